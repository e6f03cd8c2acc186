#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/application.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/home/planner.hpp"
#include "services/zone_scheduler/home/zone_backoff.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

/// The machine of an application from `accepted` to its end: phases, events, effects and `step`. Pure. Times are steady
/// unless they are called wall time.
namespace zbs {

/// The zone that did not do as asked; empty where none is the cause.
struct ZoneFailure {
    ZoneName zone;
    std::string reason;
};

/// A round of one question to all zones of the plan.
struct Answers {
    std::set<PartId> missing;
    std::optional<ZoneFailure> failure;  ///< the last one
};

/// A plan in place of one that is committed: zones hold new parts while the old ones stay.
struct Swap {
    /// In a queue: where it goes back to if the zone that it is to leave for refuses.
    std::optional<ApplicationStatus> place;
};

/// While its part waits in the queue of a zone.
struct QueueTurn {
    bool was_asked = false;   ///< since it waits at this place
    Duration elsewhere_at{};  ///< when other zones were asked last
};

/// What is known of a run whose launcher has ended.
struct RunEnd {
    Time ended{};           ///< wall time
    bool is_clean = false;  ///< the launcher exited with 0
    std::optional<ApplicationModel> profile{};
    std::optional<ProfileId> stored_profile{};
    std::optional<StagedResults> results{};  ///< fetched
    std::set<PartId> fetched{};              ///< parts all of whose results are here
    bool is_older = false;                   ///< results were fetched in an earlier life of this zone: so it ended then
};

/// What is under way. Phases from `Planned` on belong to the stored state that their comment names.
namespace phase {
/// accepted: until a plan is possible.
struct Waiting {
    bool may_overtake = false;  ///< the last cycle found that it could start before others that wait
};
/// accepted: its plan is made in the background.
struct Planning {
    std::uint64_t plan = 0;  ///< number of the plan that is awaited
    bool may_overtake = false;
};
/// planned: no zone has been asked to hold it, or all must be asked again.
struct Planned {
    std::shared_ptr<const ApplicationModel> model;
    std::optional<Swap> swap{};
    bool by_cycle = false;       ///< the next cycle waits for its holds
    std::set<PartId> refused{};  ///< their zones hold nothing
};
struct Holding {  ///< planned
    Planned plan;
    Answers answers;
};
struct Held {};      ///< held: no zone has been asked to commit, or all must be asked again
struct Committing {  ///< held
    Answers answers;
};
/// committed: what comes next has not begun.
struct Committed {
    QueueTurn turn;
};
struct AwaitingTurn {  ///< committed, until `timer`
    QueueTurn turn;
    std::uint64_t timer = 0;
};
struct AskingTurn {  ///< committed
    QueueTurn turn;
};
struct AskingElsewhere {  ///< committed
    QueueTurn turn;
};
struct SendingFiles {};  ///< committed
struct AwaitingStart {   ///< committed, until `timer`
    std::uint64_t timer = 0;
    bool may_overtake = false;
};
struct CheckingReady {  ///< committed; the reserved start has come
    Answers answers;
};
struct Launching {};       ///< launching: in this life of the program nothing has been started
struct AwaitingLauncher {  ///< launching: it has not asked for all its proxies
    Duration until{};
};
struct LaunchingParts {  ///< launching
    struct Call {
        Duration until{};  ///< end of the zone's launch window, as far as home knows
        Duration rest{};   ///< before the next try
    };
    std::vector<std::pair<std::string, std::string>> options;  ///< of the launcher's proxies
    std::map<PartId, Call> missing;
};
struct AwaitingProxies {  ///< launching: every zone says that its part runs
    Duration until{};
    Duration polled{};
    /// A zone says that a rank has ended, which cannot be true for long without all proxies.
    std::optional<ZoneFailure> early_end{};
    Duration early_end_at{};  ///< when it said so first
};
struct GivingUpLaunch {  ///< launching: its launcher is being ended
    ZoneFailure failure;
};
struct Started {};  ///< launching or running: all of it runs, and nobody watches it in this life of the program
struct Watching {   ///< launching while it is being stopped, or running
    std::optional<Duration> deserted_since{};  ///< all parts have ended, the launcher has not
    Duration weigh_at{};                       ///< the next time at which its output is measured
};
/// As `Watching` from here on; the launcher has ended. Zones are asked one after the other how their parts ended.
struct CollectingEnd {
    RunEnd end;
    Duration until{};  ///< then a part that still ends is not asked again
    PartId asked{};
    std::set<PartId> settled{};
};
struct FetchingResults {
    RunEnd end;
};
struct Concluding {  ///< how it ended is found out and stored; again where it could not be stored
    RunEnd end;
    std::optional<ApplicationEnd> found{};  ///< while the profile is being stored
};
struct Over {};
}  // namespace phase

using Phase =
    std::variant<phase::Waiting, phase::Planning, phase::Planned, phase::Holding, phase::Held, phase::Committing,
                 phase::Committed, phase::AwaitingTurn, phase::AskingTurn, phase::AskingElsewhere, phase::SendingFiles,
                 phase::AwaitingStart, phase::CheckingReady, phase::Launching, phase::AwaitingLauncher,
                 phase::LaunchingParts, phase::AwaitingProxies, phase::GivingUpLaunch, phase::Started, phase::Watching,
                 phase::CollectingEnd, phase::FetchingResults, phase::Concluding, phase::Over>;

inline constexpr Duration kReleaseRetry = std::chrono::seconds{1};

/// One application at work. What is not in `app` can be lost without harm.
struct ApplicationRun {
    Application app;
    Phase phase;
    struct Series {
        int round = 1;
        std::set<ZoneName> excluded;  ///< zones that refused
    };
    Series series;            ///< of plans, since something was reserved or nothing was possible
    bool was_denied = false;  ///< in this round a zone refused for good, not for want of processors
    int denials = 0;          ///< rounds that failed so
    /// Zones that did; plans leave them out where the others could ever hold the application.
    std::set<ZoneName> denied_by;
    struct Backoff {
        Duration until{};
        int times = 0;
    };
    std::map<ZoneName, Backoff> backoffs;  ///< zones that offered an earlier start and then refused it
    bool needs_all = false;      ///< without the zones that have failed a launch the others could never hold it
    ZoneBackoff launch_backoff;  ///< zones that have not started their part of it
    struct Promise {
        Duration until{};
        Duration asked{};
        Time asked_by_wall{};
    };
    std::map<PartId, Promise> obligations;   ///< what zones have promised us
    std::map<PartId, Duration> windows;      ///< launch windows of their zones, as far as we know
    Duration start{};                        ///< of a reservation
    std::set<PartId> staged;                 ///< have all their files
    std::uint64_t timers = 0;                ///< the last one that was set
    std::string must_stop;                   ///< why it has to be stopped, where that could not be stored yet
    std::optional<Duration> launcher_until;  ///< it is stopped then, because the application is
    std::set<PartId> polled;                 ///< their states are being asked for
    std::set<PartId> silent;                 ///< their zones did not answer when they were asked last
    /// A round of requests that release what is in `releasing`.
    struct Releases {
        std::set<PartId> missing;  ///< answers
        std::set<PartId> gone;
        Duration rest = kReleaseRetry;  ///< before the next round, where nothing is gone
        Duration until{};               ///< the end of that rest
    };
    Releases releases;
};

/// What the zones are asked about their parts. `kState`: while it is launched or runs; `kEnd`: once its launcher has
/// ended.
enum class Question { kHold, kCommit, kTurn, kReady, kLaunch, kState, kEnd };
constexpr auto words_of(Question) { return std::array{"hold", "commit", "turn", "ready", "launch", "state", "end"}; }

/// What came in.
namespace event {
struct Advance {};  ///< after every change, a fault and a restart
struct Cancelled {
    std::string by;  ///< an operator; empty: its owner
};
struct ZonesAnswered {  ///< to questions that no phase waits for
    std::string what;   ///< as in `ApplicationEvent`
    struct Answer {
        ZoneName zone;
        bool ok = false;
        std::string words;
    };
    std::vector<Answer> answers;
};
struct OffersWeighed {  ///< of a cycle, before a plan is made by them
    bool needs_all = false;
};
struct MayOvertake {  ///< found by a cycle; `may` is false where it decided nothing
    bool may = true;
};
struct NoPlan {  ///< of a cycle, for one that waits for a plan or an earlier start
    std::string reason;
    bool is_final = false;  ///< no zone could ever give what it needs
};
struct PlanBegun {  ///< in the background, for one that waits for a plan
    std::uint64_t plan = 0;
};
struct PlanMade {
    StartChoice choice;
    std::shared_ptr<const ApplicationModel> model;
    std::vector<PartId> ids;  ///< fresh, one for each zone of the plan
    std::uint64_t plan = 0;   ///< number of a plan that was made in the background
};
struct NoneElsewhere {  ///< no other zone can start it now
    Duration rest{};    ///< beyond the usual, until they are asked again
};
struct PartAnswered {
    Question question{};
    PartId part;
    Duration asked{};
    Result<PartStatus> answer = Error{};
};
struct TimerFired {
    std::uint64_t timer = 0;
};
struct FilesSent {
    std::optional<ZoneFailure> failure{};
    bool is_denial = false;
};
struct LauncherFailed {
    std::string reason;
};
struct LauncherSeen {
    using Proxies = StepStatus::Proxies;
    bool runs = false;
    Proxies proxies = Proxies::kNone;
    /// While it is awaited: the options of its proxies, once it has asked for all.
    std::optional<std::vector<std::pair<std::string, std::string>>> asked{};
    std::string end{};         ///< why it ended, for people
    bool was_stopped = false;  ///< by home
};
struct LauncherRemoved {};
struct LaunchFailed {  ///< of a part: its zone says so, or is taken for the one that lies
    ZoneFailure failure;
    bool is_suspicion = false;  ///< another zone may be the one that lies
};
struct StopAsked {
    std::string reason;
};
struct Watched {  ///< the launcher, every `poll_every`
    bool runs = false;
    bool is_clean = false;  ///< it exited with 0
};
struct OutputMeasured {  ///< of its ranks, at home
    std::uint64_t bytes = 0;
    Duration took{};
};
struct LauncherOutlives {  ///< a part that has ended, and the time after it in which the launcher ends by itself
    ZoneName zone;
    std::string reason;  ///< of that part's end
};
struct Restarted {};     ///< home, with this state stored
struct OwnerChecked {};  ///< whether it is blocked, in phases that take long
struct ReleaseDue {
    bool is_new = true;  ///< false: not before the next round is due
};
struct ReleaseAnswered {
    PartId part;
    Result<PartStatus> answer = Error{};
};
struct ProfileAnswered {
    PartId part;
    Result<ApplicationModel> answer = Error{};
};
struct ResultsFetched {
    std::optional<StagedResults> results{};  ///< none: home takes none any more
    std::set<PartId> complete{};             ///< parts all of whose results are here
    bool is_older = false;                   ///< some were here before
};
struct EndFound {
    ApplicationEnd end;
};
struct ProfileStored {
    std::optional<ProfileId> id{};  ///< none: it could not be stored
};
}  // namespace event
using ApplicationInput =
    std::variant<event::Advance, event::Cancelled, event::ZonesAnswered, event::OffersWeighed, event::MayOvertake,
                 event::NoPlan, event::PlanBegun, event::PlanMade, event::NoneElsewhere, event::PartAnswered,
                 event::TimerFired, event::FilesSent, event::LauncherFailed, event::LauncherSeen,
                 event::LauncherRemoved, event::LaunchFailed, event::StopAsked, event::Watched, event::OutputMeasured,
                 event::LauncherOutlives, event::Restarted, event::OwnerChecked, event::ReleaseDue,
                 event::ReleaseAnswered, event::ProfileAnswered, event::ResultsFetched, event::EndFound,
                 event::ProfileStored>;

/// What is to be done. An answer, if there is one, comes as an event.
namespace effect {
struct Advance {};           ///< take the next step
struct AwaitPlanning {};     ///< the next cycle plans it, too
struct AwaitPlanningLater {  ///< after a random time that grows with the rounds
    int round = 1;
};
struct AskZones {  ///< of every part
    Question question{};
};
struct AskZone {
    Question question{};
    PartId part;
    Duration after{};
};
struct AskProfile {
    PartId part;
};
struct SetTimer {
    std::uint64_t timer = 0;
    Duration after{};
    bool is_spread = false;  ///< a random time is added, so that homes do not ask together
};
struct BeginCycle {
    Duration after{};
};
struct AskElsewhere {};
struct SendFiles {};
struct StartLauncher {};
struct CheckLauncher {
    Duration after{};
};
struct StopLauncher {
    Duration grace{};
};
struct RemoveLauncher {};
struct FindSuspect {  ///< the zone that most likely has not started what it says
    std::string reason;
};
struct AwaitLauncher {  ///< whether it ends within this time
    Duration after{};
    ZoneName zone;
    std::string reason;
};
struct MeasureOutput {};
struct FetchResults {};
struct FindEnd {
    EndedByHome by_home;
};
struct StoreProfile {  ///< the one in the phase
    std::optional<Duration> measured{};
};
struct StopParts {};
struct Watch {};
struct Release {  ///< what is in `releasing`
    event::ReleaseDue due{};
    Duration after{};
};
struct ReleasePart {
    PartId part;
};
struct RecordKept {};  ///< its zones ran it to a good end
struct RecheckPeer {
    ZoneName zone;
};
struct RecordLaunchFailure {
    ZoneName zone;
};
struct Penalise {  ///< the zone denies what it owes
    ZoneName zone;
    PartId part;
    std::string words;
    bool may_have_reason = false;  ///< the part's state is asked first
};
}  // namespace effect
using ApplicationEffect =
    std::variant<effect::Advance, effect::AwaitPlanning, effect::AwaitPlanningLater, effect::AskZones, effect::AskZone,
                 effect::AskProfile, effect::SetTimer, effect::BeginCycle, effect::AskElsewhere, effect::SendFiles,
                 effect::StartLauncher, effect::CheckLauncher, effect::StopLauncher, effect::RemoveLauncher,
                 effect::FindSuspect, effect::AwaitLauncher, effect::MeasureOutput, effect::FetchResults,
                 effect::FindEnd, effect::StoreProfile, effect::StopParts, effect::Watch, effect::Release,
                 effect::ReleasePart, effect::RecordKept, effect::RecheckPeer, effect::RecordLaunchFailure,
                 effect::Penalise>;

/// When an event came, and what is known then.
struct Moment {
    Time wall{};
    Duration steady{};
    bool is_blocked = false;  ///< its owner was revoked or blocked
    std::string resting{};    ///< why zones of its parts take no new work, for people
};

/// What `step` made of an event. `run` counts in any case. Then `save` is stored, and counts once it is; only then
/// `effects` happen, in order. Where it cannot be stored they do not, and `event::Advance` comes later.
struct ApplicationStep {
    ApplicationRun run;
    struct Save {
        ApplicationStatus status;
        Phase phase;
        ApplicationRun::Series series;
    };
    std::optional<Save> save{};
    std::vector<ApplicationEffect> effects{};
};

/// What was stored counts.
void keep(ApplicationRun& run, ApplicationStep::Save stored);

/// An application as it is now, for a log that can be replayed: it is new here, or it took a step.
struct ApplicationTrace {
    const ApplicationRun& run;
    const ApplicationInput* event = nullptr;  ///< of the step; null: there was none
    Moment now{};                             ///< of the step
    bool is_stored = true;                    ///< what the step has to save
};
using ApplicationObserver = std::function<void(const ApplicationTrace&)>;

/// Hands an event to the machine and performs what comes of it.
using ApplyInput = std::function<void(const std::shared_ptr<ApplicationRun>&, const ApplicationInput&)>;

ApplicationStep step(ApplicationRun run, const ApplicationInput& event, const Moment& now, const ZoneConfig& config);

/// Where work begins after a restart.
Phase phase_after_restart(ApplicationState state);

/// Whether zones owe the answer of a plan that takes the place of a committed one.
bool is_swapping(const Phase& phase);
/// Whether the last cycle found that it could start before others that wait; true where nothing is to be confirmed.
bool may_overtake(const Phase& phase);
/// Whether its zones hold, or are being asked to hold, a plan of a cycle.
bool has_turn(const Phase& phase);

std::string why_cancelled(const Application& app, bool is_blocked);

/// Whether the answer denies a part, or says that its time is over. A right that was taken back answers kDenied, a zone
/// in trouble kUnavailable, and a part that its zone's operator ended is `released`: those are reasons.
bool denies(const Result<PartStatus>& answer);

/// Whether asking again with the same id may help.
inline bool is_passing(const Error& error) {
    return error.code == ErrorCode::kTimeout || error.code == ErrorCode::kUnavailable ||
           error.code == ErrorCode::kTooManyRequests;
}

/// Whether a part of it is without processors until it is its turn.
bool waits_in_queue(const ApplicationStatus& status);
/// Whether no rank begins before all proxies have connected to the launcher.
inline bool is_gated(const Application& app) { return app.request.launcher == Launcher::kMpich; }
/// Whether files of the application go to this part's zone, and come from there: where it shares no file system.
bool needs_files(const ZoneConfig& config, const ApplicationRequest& request, const ApplicationPart& part);
ApplicationPart* find_part(ApplicationStatus& status, const PartId& id);

inline constexpr const char* kRefusedBefore = "refused or did not answer in an earlier round";

}  // namespace zbs
