#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/zone_scheduler/adapters/node/node_executor.hpp"

// What the files of NodeExecutor share, and nobody else.

namespace zbs::node {

inline constexpr Duration kPause = std::chrono::milliseconds{500};  ///< before a call that failed is repeated
inline constexpr Duration kLongPause = std::chrono::seconds{10};    ///< the same, where its agent is silent for long

struct NodeExecutor::Step {
    enum class Phase {
        kPlaced,    ///< nothing was asked yet
        kStarting,  ///< the agent has not answered yet
        kRunning,   ///< as far as is known
        kFetching,  ///< it has ended; its files are being fetched
        kEnded,
    };
    StepId step_id;
    MachineName machine;
    Phase phase = Phase::kPlaced;
    StepSpec spec{};
    Duration asked{};  ///< steady time of its start
    StepStatus end{};
    std::optional<StepWork> work{};  ///< as its agent said last
    bool was_seen = false;           ///< its agent has said that it has it
    bool wants_files = true;
    bool is_stopping = false;
    bool awaits_stop_answer = false;  ///< the agent has not heard yet that it is to stop
    Duration grace{};
    std::vector<StepFile> files{};      ///< to be fetched
    std::size_t file = 0;               ///< which of them is
    std::uint64_t offset = 0;           ///< in it
    Duration fetch_until{};             ///< steady time; each piece that comes moves it
    Duration all_until{};               ///< steady time at which even a slow agent has sent all
    std::size_t reported_left_out = 0;  ///< results reported as left out
    std::optional<Wanted> wanted{};     ///< results
    /// Bytes of output that it, and those it shares them with, may still leave here.
    std::shared_ptr<std::uint64_t> output_room{};
    std::string not_fetched{};  ///< why its files cannot be asked for; empty where they can
    std::size_t own_files = 0;  ///< to be fetched, that are no results
    int rounds = 0;             ///< times that its agent lacked an input
};

struct NodeExecutor::Agent {
    std::string url;
    std::unique_ptr<http::NodeClient> client;
    std::uint64_t version = 0;
    bool is_watching = false;
    std::set<StepId> running;               ///< its steps that run, as far as is known
    std::optional<Duration> failing_since;  ///< steady time of the first question without an answer since the last one
    int failures = 0;                       ///< since then
    bool is_lost(Duration now, Duration after) const {
        return failing_since && failures >= 3 && now - *failing_since >= after;
    }
    void heard(bool answered, Duration now) {
        if (answered) {
            failing_since.reset();
            failures = 0;
        } else {
            if (!failing_since) failing_since = now;
            ++failures;
        }
    }
};

}  // namespace zbs::node
