#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "services/common/messages/states.hpp"
#include "services/zone_scheduler/home/application.hpp"

namespace zbs {

template <class... Phases>
bool is_one_of(const Phase& phase) {
    return (std::holds_alternative<Phases>(phase) || ...);
}

/// Whether the launcher of what ran has ended.
inline bool has_launcher_ended(const Phase& phase) {
    return is_one_of<phase::CollectingEnd, phase::FetchingResults, phase::Concluding>(phase);
}

/// Everything that the application has becomes what is to be released.
void release_parts(ApplicationStatus& status);
std::string state_and_reason(const PartStatus& part);

/// One event on its way through the machine.
class Stepper {
  public:
    Stepper(ApplicationRun run, const Moment& now, const ZoneConfig& config)
        : out_{std::move(run)}, run_(out_.run), status_(run_.app.status), now_(now), config_(config) {}
    Stepper(const Stepper&) = delete;
    Stepper& operator=(const Stepper&) = delete;
    ApplicationStep result() { return std::move(out_); }

    void on(const event::Advance&);
    void on(const event::OffersWeighed& weighed) { run_.needs_all = weighed.needs_all; }
    void on(const event::MayOvertake& found);
    void on(const event::NoPlan& none);
    void on(const event::PlanBegun& begun);
    void on(const event::PlanMade& made);
    void on(const event::NoneElsewhere& none);
    void on(const event::PartAnswered& came);
    void on(const event::TimerFired& fired);
    void on(const event::FilesSent& sent);
    void on(const event::LauncherFailed& failed);
    void on(const event::LauncherSeen& seen);
    void on(const event::LauncherRemoved&);
    void on(const event::LaunchFailed& failed);
    void on(const event::StopAsked& asked) { stop(asked.reason); }
    void on(const event::Watched& launcher);
    void on(const event::OutputMeasured& output);
    void on(const event::LauncherOutlives& part);
    void on(const event::Restarted&);
    void on(const event::OwnerChecked&) { static_cast<void>(cancel_if_blocked()); }
    void on(const event::ReleaseDue& due);
    void on(const event::ReleaseAnswered& came);
    void on(const event::ProfileAnswered& came);
    void on(const event::ResultsFetched& fetched);
    void on(const event::EndFound& found);
    void on(const event::ProfileStored& stored);

  private:
    bool cancel_if_blocked();
    /// Cancelled, or its owner is blocked: it is not held, committed or started any more.
    bool is_to_end() const { return status_.cancel_requested || now_.is_blocked; }
    void begin();
    void begin_committed(const QueueTurn& turn);
    void begin_launch();
    void start_launcher();
    void begin_to_run();
    void hold_answered(phase::Holding& holding, ApplicationPart& part, const event::PartAnswered& came);
    void all_held(phase::Planned plan, const std::optional<ZoneFailure>& failure);
    void commit_answered(phase::Committing& committing, ApplicationPart& part, const event::PartAnswered& came);
    void turn_answered(QueueTurn turn, ApplicationPart& part, const Result<PartStatus>& answer);
    void ready_answered(phase::CheckingReady& checking, ApplicationPart& part, const Result<PartStatus>& answer);
    void launch_answered(ApplicationPart& part, const Result<PartStatus>& answer);
    void await_turn(const QueueTurn& turn);
    void ask_turn(const QueueTurn& turn);
    void await_start(Duration delay, bool may_overtake = false);
    void release_held(ApplicationStatus& changed);
    void wait_on(const ApplicationStatus& place);
    void plan_again(const ZoneFailure& failure);
    void launch_parts(const std::vector<std::pair<std::string, std::string>>& options);
    void launch_failed(const ZoneFailure& failure);
    void launcher_ended(const event::LauncherSeen& seen);
    void giving_up(const event::LauncherSeen& seen);
    void state_answered(ApplicationPart& part, const Result<PartStatus>& answer);
    void collect(Duration after = {});
    bool wants_answers(const phase::CollectingEnd& collecting) const;
    void end_answered(phase::CollectingEnd& collecting, ApplicationPart& part, const Result<PartStatus>& answer);
    void conclude(RunEnd end);
    void store_end(const RunEnd& end, const ApplicationEnd& found);
    void judge(const ApplicationPart& part, const Result<PartStatus>& answer);
    void promise(const ApplicationPart& part, Duration asked, const PartStatus& answer);
    void record_silence(const ApplicationPart& part, const Result<PartStatus>& answer);
    void stop(const std::string& reason);
    void stop_parts(const ApplicationStatus& status);
    void poll_parts();
    void end_launcher();
    std::string why_it_awaits_start() const;
    bool is_staged() const;

    template <class AnEffect>
    void add(AnEffect effect) {
        out_.effects.emplace_back(std::move(effect));
    }
    void record(const ApplicationPart& part, const char* what, bool ok, const std::string& answer) {
        record_answer(run_, now_.wall, part.zone, what, ok, answer);
    }
    std::set<PartId> all_parts() const {
        ZBS_EXPECTS(!status_.parts.empty());  // entering `planned` stores them in the same write
        std::set<PartId> ids;
        for (const ApplicationPart& part : status_.parts) ids.insert(part.id);
        return ids;
    }
    std::uint64_t set_timer(Duration after, bool is_spread) {
        add(effect::SetTimer{++run_.timers, after, is_spread});
        return run_.timers;
    }
    void save(ApplicationStatus changed) { out_.save = {std::move(changed), run_.phase, run_.series}; }
    void enter(ApplicationStatus changed, ApplicationState state, const std::string& reason, Phase phase) {
        ZBS_EXPECTS(allowed(status_.state, state));
        changed.state = state;
        changed.reason = reason;
        changed.history.push_back({state, now_.wall});
        if (changed.history.size() > kMaxHistory) changed.history.erase(changed.history.begin() + 1);
        out_.save = {std::move(changed), std::move(phase), run_.series};
    }

    ApplicationStep out_;
    ApplicationRun& run_;
    ApplicationStatus& status_;
    const Moment& now_;
    const ZoneConfig& config_;
};

}  // namespace zbs
