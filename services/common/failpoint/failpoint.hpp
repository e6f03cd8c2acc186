#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "services/common/failpoint/points.hpp"
#include "services/common/ports/log.hpp"

namespace zbs::failpoint {

enum class Action { kCrash, kError, kStall };
constexpr auto words_of(Action) { return std::array{"crash", "error", "stall"}; }

/// What is to happen the `at_hit`th time that a process comes by a point; the times before and after are as always.
struct Arming {
    Point point{};
    Action action = Action::kCrash;
    Duration stall{};  ///< of kStall; else 0
    unsigned at_hit = 1;
    bool operator==(const Arming&) const = default;
};

/// Reads "NAME=ACTION;NAME=ACTION", where an action is crash, error or stall:DURATION, each with "@N" behind it for
/// the Nth time instead of the first. Empty text: nothing. Errors: what is wrong, with the names and actions there are;
/// a point that no process of this kind comes by.
Result<std::vector<Arming>> parse(std::string_view text, Program program);
/// The same from the environment's ZBS_FAILPOINTS.
Result<std::vector<Arming>> from_environment(Program program);
/// The same in words that `parse` reads.
std::string to_text(const std::vector<Arming>& armings);

/// Where `reach` puts down that a point was hit, before anything happens there; from any thread.
using OnHit = std::function<void(const Arming&)>;
/// Arms these points for the rest of the process's life. Before there are other threads.
void arm(const std::vector<Arming>& armings, OnHit on_hit);
/// The same, with a warning in the log for what is armed (`failpoint_armed`) and for each hit (`failpoint_hit`).
void arm(const std::vector<Arming>& armings, Log& log);
/// What was armed for steps, in words for their supervisors' command line; empty where nothing is.
const std::string& armed_for_steps();
/// For tests of this module: as if nothing had been armed.
void disarm();

namespace detail {
inline std::atomic<bool> any_is_armed{false};
Result<void> act(Point point);
}  // namespace detail

/// A process comes by `point`. Unless it is armed nothing happens, for the price of one load and a branch. Where it is:
/// the process ends as by kill -9, or the thread sleeps, or this gives the error that the caller makes its own.
inline Result<void> reach(Point point) {
    if (!detail::any_is_armed.load(std::memory_order_relaxed)) [[likely]]
        return {};
    return detail::act(point);
}

}  // namespace zbs::failpoint
