#pragma once
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/home/application.hpp"

/// The machine of an application in groups of phases. Each group takes its own events; `step` hands an event to the one
/// that takes it.
namespace zbs {

template <class... Phases>
bool is_one_of(const Phase& phase) {
    return (std::holds_alternative<Phases>(phase) || ...);
}

/// Whether the launcher of what ran has ended.
inline bool has_launcher_ended(const Phase& phase) {
    return is_one_of<phase::CollectingEnd, phase::FetchingResults, phase::Concluding>(phase);
}

/// The most that starts of zones may lie apart: clocks run at different speeds, and messages take time.
inline constexpr Duration kClockDrift = std::chrono::seconds{1};
/// How long after its start a reservation may still become ready, of the time that zones keep it for a launch.
inline constexpr int kSlipShare = 3;

/// All parts become parts that are to be released.
void release_parts(ApplicationStatus& status);
std::string state_and_reason(const PartStatus& part);
/// Copies what a zone says of a part that was queued: its place, or the processors that it has got. False where these
/// are not for just its ranks.
bool take_turn(ApplicationStatus& status, ApplicationPart& part, const PartStatus& answer, Time now);

/// One event on its way through the machine, with what all groups do. `out` must outlive it.
class Steps {
  public:
    Steps(ApplicationStep& out, const Moment& now, const ZoneConfig& config)
        : out_(out), run_(out.run), status_(run_.app.status), now_(now), config_(config) {}

  protected:
    /// Cancelled, or its owner is blocked: it is not held, committed or started any more.
    bool is_to_end() const { return status_.cancel_requested || now_.is_blocked; }
    template <class AnEffect>
    void add(AnEffect effect) {
        out_.effects.emplace_back(std::move(effect));
    }
    void record(const ZoneName& zone, const std::string& what, bool ok, const std::string& answer);
    void record(const ApplicationPart& part, const char* what, bool ok, const std::string& answer) {
        record(part.zone, what, ok, answer);
    }
    std::set<PartId> all_parts() const;
    std::uint64_t set_timer(Duration after, bool is_spread) {
        add(effect::SetTimer{++run_.timers, after, is_spread});
        return run_.timers;
    }
    void save(ApplicationStatus changed) { out_.save = {std::move(changed), run_.phase, run_.series}; }
    void enter(ApplicationStatus changed, ApplicationState state, const std::string& reason, Phase phase);

    // The conduct of zones: what they have promised, and whether they deny it.
    void promise(const ApplicationPart& part, Duration asked, const PartStatus& answer);
    void judge(const ApplicationPart& part, const Result<PartStatus>& answer);
    void record_silence(const ApplicationPart& part, const Result<PartStatus>& answer);

    ApplicationStep& out_;
    ApplicationRun& run_;
    ApplicationStatus& status_;
    const Moment& now_;
    const ZoneConfig& config_;
};

/// From `Waiting` until all zones have committed their parts.
class PlanSteps : Steps {
  public:
    explicit PlanSteps(const Steps& event) : Steps(event) {}
    void on(const event::OffersWeighed& weighed) { run_.needs_all = weighed.needs_all; }
    void on(const event::MayOvertake& found);
    void on(const event::NoPlan& none);
    void on(const event::PlanBegun& begun);
    void on(const event::PlanMade& made);
    void on(const event::Restarted&);
    void hold_answered(ApplicationPart& part, const event::PartAnswered& came);
    void commit_answered(ApplicationPart& part, const event::PartAnswered& came);
    /// Releases all, and leaves out the zone that failed.
    void plan_again(const ZoneFailure& failure);

  private:
    void all_held(phase::Planned plan, const std::optional<ZoneFailure>& failure);
    void wait_on(const ApplicationStatus& place);
    void release_held(ApplicationStatus& changed);
};

/// Committed: its turn in a queue, its files, its reserved start.
class WaitSteps : Steps {
  public:
    explicit WaitSteps(const Steps& event) : Steps(event) {}
    void begin(const QueueTurn& turn);
    void on(const event::NoneElsewhere& none);
    void on(const event::TimerFired& fired);
    void on(const event::FilesSent& sent);
    void turn_answered(ApplicationPart& part, const Result<PartStatus>& answer);
    void ready_answered(ApplicationPart& part, const Result<PartStatus>& answer);

  private:
    void await_turn(const QueueTurn& turn);
    void ask_turn(const QueueTurn& turn);
    void await_start(Duration delay, bool may_overtake = false);
    bool is_staged() const;
};

/// From its launch to the end of its launcher.
class RunSteps : Steps {
  public:
    explicit RunSteps(const Steps& event) : Steps(event) {}
    void begin_launch();
    void start_launcher();
    void begin_to_run();
    void on(const event::LauncherFailed& failed);
    void on(const event::LauncherSeen& seen);
    void on(const event::LauncherRemoved&);
    void on(const event::LaunchFailed& failed);
    void on(const event::StopAsked& asked) { stop(asked.reason); }
    void on(const event::Watched& launcher);
    void on(const event::OutputMeasured& output);
    void on(const event::LauncherOutlives& part);
    void launch_answered(ApplicationPart& part, const Result<PartStatus>& answer);
    void state_answered(ApplicationPart& part, const Result<PartStatus>& answer);
    void stop(const std::string& reason);
    void stop_parts(const ApplicationStatus& status);

  private:
    void launch_parts(const std::vector<std::pair<std::string, std::string>>& options);
    void launch_failed(const ZoneFailure& failure, bool is_suspicion = false);
    void ended_early(const ApplicationPart& part, const RankEnd& end);
    void launcher_silent();
    void launcher_ended(const event::LauncherSeen& seen);
    void giving_up(const event::LauncherSeen& seen);
    void poll_parts();
    void end_launcher();
};

/// Its launcher has ended: how its parts ended, its results, its end.
class EndSteps : Steps {
  public:
    explicit EndSteps(const Steps& event) : Steps(event) {}
    void collect(Duration after = {});
    void conclude(RunEnd end);
    void on(const event::ProfileAnswered& came);
    void on(const event::ResultsFetched& fetched);
    void on(const event::EndFound& found);
    void on(const event::ProfileStored& stored);
    void end_answered(ApplicationPart& part, const Result<PartStatus>& answer);

  private:
    bool wants_answers(const phase::CollectingEnd& collecting) const;
    void store_end(const RunEnd& end, const ApplicationEnd& found);
};

}  // namespace zbs
