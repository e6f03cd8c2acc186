#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/ports/steps/step_runner.hpp"
#include "services/common/ports/storage/part_store.hpp"
#include "services/zone_scheduler/peer/processor_ledger.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

/// A part in the zone that holds it, as a pure machine: phases, events, effects and `step`. It has no clock, store,
/// process or log; its shell (`PartService`) stores what a step changes and then performs the effects in their order.
namespace zbs::part {

using zbs::to_string;  // of its enumerations

/// Why the processes of a part are being ended.
struct Stop {
    std::string reason;
    Duration grace{};
    bool is_asked = false;     ///< by home, or because home or user were blocked; else the part has failed
    bool not_started = false;  ///< by a fault of this zone
    bool operator==(const Stop&) const = default;
};

// Phases. Times are the zone's steady clock. A part in the queue is held or committed, and has no processors yet.
struct Held {
    Duration until{};  ///< then it expires
    bool operator==(const Held&) const = default;
};
struct Committed {
    Duration until{};                         ///< then its launch window is over; counts once it has processors
    std::optional<Duration> staging_since{};  ///< of the first word about files, or of the start
    bool has_inputs = false;                  ///< its machines with agents have them
    bool operator==(const Committed&) const = default;
};
struct Running {
    bool operator==(const Running&) const = default;
};
struct Stopping {
    Stop stop;
    bool operator==(const Stopping&) const = default;
};
/// All processes have ended. The site's own scheduler is asked why, and is then given the processors back.
struct Returning {
    enum class Stage { kToJudge, kToGiveBack, kGivenBack };
    Stage stage = Stage::kToJudge;
    std::optional<Stop> stop;
    bool operator==(const Returning&) const = default;
};
constexpr auto words_of(Returning::Stage) { return std::array{"to_judge", "to_give_back", "given_back"}; }
struct Ended {
    bool operator==(const Ended&) const = default;
};
using Phase = std::variant<Held, Committed, Running, Stopping, Returning, Ended>;

struct State {
    PartRecord record;  ///< what is stored; its state agrees with the phase
    Phase phase;
    Duration start{};  ///< steady time: of a reservation, or of what runs
    bool operator==(const State&) const = default;
};

/// The processes of a part, as they are.
struct Observation {
    std::vector<StepStatus> steps;     ///< by proxy
    std::string not_begun{};           ///< why a program of it was never executed
    std::optional<RankEnd> first_end;  ///< of the ranks that did not end well the one that is why the others ended
    std::string ranks_at_walltime{};   ///< `zbs::ranks_at_walltime`; once all have ended
    bool has_profile = false;          ///< likewise
    bool is_allocated = false;         ///< by the site's own scheduler
};

// Events.
struct Commit {};
/// Precondition: `check_launch` found nothing.
struct Launch {
    LaunchRequest request;
    std::vector<MachineName> machines;  ///< by proxy, as this zone names them
};
/// A process of the launch could not be started.
struct StartFailed {
    std::string reason;
};
/// Home gives it back.
struct Release {
    std::string reason;
};
/// Its user or home has nothing here any more, not even what runs: home may be unable or unwilling to stop it.
struct Block {};
/// The zone takes back what has not been launched: the processors went, or another part takes its place.
struct Withdraw {
    std::string reason;
};
/// The site's own scheduler has given the processors.
struct Granted {};
/// The queue has given it processors.
struct Placed {
    ProcessorLedger::Placement placement;
};
struct FilesAnnounced {
    Staging staging;
};
/// Home sends files.
struct FilesMoved {
    Duration latest_launch{};  ///< steady time: later, others would wait for processors that were promised to them
};
struct InputsBrought {};
struct TimePassed {};
struct ProcessesSeen {
    Observation seen;
};
/// Why the site's own scheduler ended it; empty where it did not.
struct Judged {
    std::string verdict;
};
/// That scheduler has its processors back.
struct GivenBack {};
using Event = std::variant<Commit, Launch, StartFailed, Release, Block, Withdraw, Granted, Placed, FilesAnnounced,
                           FilesMoved, InputsBrought, TimePassed, ProcessesSeen, Judged, GivenBack>;

// Effects.
/// It is among the parts of the zone from now on.
struct Enter {};
struct JoinQueue {};
/// The site's own scheduler, for its processors.
struct AskAllocation {};
/// Its processors are promised anew, as long as it may need them now.
struct Promise {};
struct LeaveQueue {};
struct KeepAllocation {};
struct StartSteps {
    LaunchRequest request;
};
struct StopSteps {
    Duration grace{};
};
/// At its processes.
struct LookAgain {};
struct AskVerdict {};
struct ReturnAllocation {};
/// What its run says of how long parts run.
struct RecordRun {};
struct RecordTrust {
    TrustEvent event;
};
/// All that it has here: processors, account, place in the queue, files on their way.
struct GiveBack {};
struct RemoveInputs {};
struct Reach {
    failpoint::Point point;
};
using Effect =
    std::variant<Enter, JoinQueue, AskAllocation, Promise, LeaveQueue, KeepAllocation, StartSteps, StopSteps, LookAgain,
                 AskVerdict, ReturnAllocation, RecordRun, RecordTrust, GiveBack, RemoveInputs, Reach>;

struct Now {
    Duration steady{};
    Time wall{};
};

struct Step {
    std::optional<State> next{};  ///< none: nothing changes
    bool saves = false;           ///< `next` is stored before any effect
    std::vector<Effect> effects{};
};

/// A part as it is now, for a log that can be replayed: it was held or found again just now, or it took a step.
struct Trace {
    const State& state;
    const Event* event = nullptr;  ///< of the step, which changed something or failed; null: there was none
    Now now{};                     ///< of the step
    const Error* error = nullptr;  ///< why the step failed, which leaves `state` as it was
};
using Observer = std::function<void(const Trace&)>;

/// Pure. An event that says nothing in this phase changes nothing. Errors: kConflict for files other than before.
/// O(ranks) where something changes, O(proxies) else.
Result<Step> step(const ZoneConfig& config, const State& state, const Event& event, Now now);

/// Whether home may launch it now, as far as the part itself goes. Errors: kConflict.
Result<void> check_launch(const State& state, Now now);

/// The first step of a part, which is held: there is no state before it. `record` has all but its state.
Step begin(const ZoneConfig& config, PartRecord record, Now now);
/// As the store has it after a restart: a zone counts the time while it was down against nobody, so each has its full
/// time again. Errors: kConflict for a record that no step leads to.
Result<State> resume(const ZoneConfig& config, PartRecord record, Now now);

/// It has a start that has not come.
bool is_reserved(const PartRecord& record);
/// It waits for processors.
bool is_queued(const PartRecord& record);
/// As far as the zone gives it.
Duration grace_of(const ZoneConfig& config, Duration asked);
/// From a launch to the last instant at which it can end, with the time to stop.
Duration longest_run(const ZoneConfig& config, Duration walltime, Duration grace);
/// What a hold for `start_in` from now on may need in all.
ProcessorCalendar::Interval interval_of(const ZoneConfig& config, Duration now, Duration start_in, Duration walltime,
                                        Duration grace);
/// When its time is over, unless something happens; none of what runs.
std::optional<Duration> deadline_of(const State& state);
/// Null where its processes are not being ended.
const Stop* stop_of(const State& state);

}  // namespace zbs::part
