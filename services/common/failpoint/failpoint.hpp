#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "services/common/ports/log.hpp"

namespace zbs::failpoint {

using zbs::to_string;

/// Places where a process can be made to die, to fail or to stall, so that tests can see what becomes of the work.
enum class Point {
    kStoreBeforeWrite,
    kStoreAfterWrite,
    kStoreBeforeCommit,
    kStoreAfterCommit,
    kAnswerSent,
    kAuditBeforeWrite,
    kAuditBeforeSync,
    kHomeBeforePlanned,
    kHomeAfterPlanned,
    kHomeHoldAnswered,
    kHomeBeforeHeld,
    kHomeAfterHeld,
    kHomeCommitAnswered,
    kHomeBeforeCommitted,
    kHomeAfterCommitted,
    kHomeBeforeLaunching,
    kHomeAfterLaunching,
    kHomeLauncherStarted,
    kHomeLaunchAnswered,
    kHomeBeforeRunning,
    kHomeAfterRunning,
    kHomeBeforeEnd,
    kHomeAfterEnd,
    kHomeBeforeRelease,
    kPeerHoldDecided,
    kPeerHoldStored,
    kPeerCommitStored,
    kPeerLaunchStored,
    kPeerStepSpawned,
    kPeerBetweenProxies,
    kPeerReleaseAsked,
    kPeerEndSeen,
    kStageFileArrived,
    kStageResultsFound,
    kFetchResultsBrought,
    kStepBeforeRecord,
    kStepAfterRecord,
    kStepAfterFork,
    kRegistryAnnounceDecided,
    kRegistryAnnounceStored,
    kCount
};

/// The program that comes by a point.
enum class Program { kZone, kRegistry, kStep, kServices };
constexpr auto words_of(Program) { return std::array{"zone", "registry", "step", "services"}; }

struct Row {
    Point point;
    Program program;
    std::string_view name;   ///< in ZBS_FAILPOINTS; the part before the first dot groups them
    std::string_view place;  ///< what has happened there and what has not
    std::string_view error;  ///< what action "error" makes of it
};

/// Every point there is, in the order of `Point`.
inline constexpr std::array<Row, static_cast<std::size_t>(Point::kCount)> kTable = {{
    {Point::kStoreBeforeWrite, Program::kZone, "store.before_write",
     "an application or a part is about to be written to the database",
     "it is not written, and its writer gets an error"},
    {Point::kStoreAfterWrite, Program::kZone, "store.after_write",
     "an application or a part is written, in a transaction that is still open",
     "the transaction is lost, as SQLite does it when the disk is full"},
    {Point::kStoreBeforeCommit, Program::kZone, "store.before_commit", "the open transaction is about to be synced",
     "the commit fails, and with it the storage"},
    {Point::kStoreAfterCommit, Program::kZone, "store.after_commit",
     "what was written is durable; no answer, call or process that waits for it has gone out",
     "the commit is reported as failed, and with it the storage"},
    {Point::kAnswerSent, Program::kServices, "answer.sent",
     "an answer to a call that changes something is written to the connection", "the connection is closed"},
    {Point::kAuditBeforeWrite, Program::kServices, "audit.before_write",
     "entries are about to be written to the audit log", "they cannot be written"},
    {Point::kAuditBeforeSync, Program::kServices, "audit.before_sync",
     "entries of the audit log are written and about to be synced", "they cannot be synced"},
    {Point::kHomeBeforePlanned, Program::kZone, "home.before_planned", "the zones of an application are chosen",
     "the state cannot be stored now"},
    {Point::kHomeAfterPlanned, Program::kZone, "home.after_planned", "'planned' is stored, no zone is asked to hold",
     "the next step is taken a second later"},
    {Point::kHomeHoldAnswered, Program::kZone, "home.hold_answered", "a zone's answer to a hold has come",
     "the answer counts as lost"},
    {Point::kHomeBeforeHeld, Program::kZone, "home.before_held", "all zones hold, 'held' is not stored",
     "the state cannot be stored now"},
    {Point::kHomeAfterHeld, Program::kZone, "home.after_held", "'held' is stored, no zone is asked to commit",
     "the next step is taken a second later"},
    {Point::kHomeCommitAnswered, Program::kZone, "home.commit_answered", "a zone's answer to a commit has come",
     "the answer counts as lost"},
    {Point::kHomeBeforeCommitted, Program::kZone, "home.before_committed",
     "all zones have committed, 'committed' is not stored", "the state cannot be stored now"},
    {Point::kHomeAfterCommitted, Program::kZone, "home.after_committed",
     "'committed' is stored, the launcher has no operation id", "the next step is taken a second later"},
    {Point::kHomeBeforeLaunching, Program::kZone, "home.before_launching",
     "the launcher has an operation id, which is not stored", "the state cannot be stored now"},
    {Point::kHomeAfterLaunching, Program::kZone, "home.after_launching", "'launching' is stored, no launcher runs",
     "the next step is taken a second later"},
    {Point::kHomeLauncherStarted, Program::kZone, "home.launcher_started",
     "the launcher runs, no zone is asked to launch its part", "it counts as not started"},
    {Point::kHomeLaunchAnswered, Program::kZone, "home.launch_answered", "a zone's answer to a launch has come",
     "the answer counts as lost"},
    {Point::kHomeBeforeRunning, Program::kZone, "home.before_running", "all parts run, 'running' is not stored",
     "the state cannot be stored now"},
    {Point::kHomeAfterRunning, Program::kZone, "home.after_running", "'running' is stored, nobody watches yet",
     "the next step is taken a second later"},
    {Point::kHomeBeforeEnd, Program::kZone, "home.before_end",
     "an application has ended in one way or another, which is not stored", "the state cannot be stored now"},
    {Point::kHomeAfterEnd, Program::kZone, "home.after_end", "the end is stored, nothing is given back",
     "the next step is taken a second later"},
    {Point::kHomeBeforeRelease, Program::kZone, "home.before_release", "zones are about to be given their parts back",
     "they are announced later"},
    {Point::kPeerHoldDecided, Program::kZone, "peer.hold_decided", "a part has its processors, which is not stored",
     "the hold cannot be stored"},
    {Point::kPeerHoldStored, Program::kZone, "peer.hold_stored", "a hold is stored, its home is not answered",
     "its home is answered with an error"},
    {Point::kPeerCommitStored, Program::kZone, "peer.commit_stored", "a commit is stored, its home is not answered",
     "its home is answered with an error"},
    {Point::kPeerLaunchStored, Program::kZone, "peer.launch_stored", "a launch is stored, none of its proxies runs",
     "its home is answered with an error, and nothing is started"},
    {Point::kPeerStepSpawned, Program::kZone, "peer.step_spawned",
     "the supervisor of a step is forked and has not said whether the program runs", "it counts as not started"},
    {Point::kPeerBetweenProxies, Program::kZone, "peer.between_proxies",
     "a proxy of a part runs, the next one does not", "the next one cannot be started"},
    {Point::kPeerReleaseAsked, Program::kZone, "peer.release_asked", "home gives a part back, nothing is done yet",
     "its home is answered with an error"},
    {Point::kPeerEndSeen, Program::kZone, "peer.end_seen", "all processes of a part are gone, which is not stored",
     "the end cannot be stored now"},
    {Point::kStageFileArrived, Program::kZone, "stage.file_arrived",
     "a file of a part is whole here, its home is not answered", "its home is answered with an error"},
    {Point::kStageResultsFound, Program::kZone, "stage.results_found",
     "results of a part are found, none of them is laid aside", "its home is answered with an error"},
    {Point::kFetchResultsBrought, Program::kZone, "fetch.results_brought",
     "the results of all zones are at home, which is not stored", "the zones are asked again a second later"},
    {Point::kStepBeforeRecord, Program::kStep, "step.before_record",
     "a step's supervisor runs and has not left its number", "it gives up"},
    {Point::kStepAfterRecord, Program::kStep, "step.after_record",
     "a step's supervisor has left its number and has not forked", "it gives up"},
    {Point::kStepAfterFork, Program::kStep, "step.after_fork", "a step's program is forked, the zone has no answer yet",
     "the zone receives the error that it could not be started"},
    {Point::kRegistryAnnounceDecided, Program::kRegistry, "registry.announce_decided",
     "a zone's entry is good and not stored", "it cannot be stored"},
    {Point::kRegistryAnnounceStored, Program::kRegistry, "registry.announce_stored",
     "a zone's entry is stored, the zone is not answered", "the zone is answered with an error"},
}};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < kTable.size(); ++i)
        if (kTable[i].point != static_cast<Point>(i)) return false;
    return true;
}
static_assert(is_in_order(), "a row for each point, in the order of the points");

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
