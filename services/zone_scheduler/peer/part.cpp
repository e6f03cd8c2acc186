#include "services/zone_scheduler/peer/part.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "services/common/messages/states.hpp"
#include "services/common/messages/steps/lost_machine.hpp"

namespace zbs::part {
namespace {

constexpr Duration kStopGrace = std::chrono::seconds{1};  ///< of work that cannot go on, or must not
/// For a process tree to end after its walltime, and for this zone to see it.
constexpr Duration kStopSlack = std::chrono::seconds{5};
/// That the launcher may take to end all ranks after one has left early.
constexpr Duration kLauncherEnds = std::chrono::seconds{2};
/// How much before the start of a reservation its home may launch: clocks run at different speeds.
constexpr Duration kEarly = std::chrono::seconds{2};
constexpr int kTerminated = 128 + 15;  ///< exit code of what SIGTERM ended
constexpr const char* kBlockedReason = "its user or home was blocked";

bool explains_end(const std::string& reason) {
    return reason.starts_with(kWalltimeReason) || reason.starts_with(kLostMachineReason) ||
           reason.starts_with(kLostSupervisorReason) || reason.starts_with(kFolderReason);
}

/// What the end of a rank is for the reason: with zone and machine.
std::string reason_of(const RankEnd& end, const PartRecord& record, const ZoneName& zone) {
    const auto& places = record.status.assignment;
    const auto place = std::ranges::find(places, end.rank, &RankPlace::rank);
    return describe(end, zone + (place == places.end() ? "" : "." + place->machine));
}

/// The reason of a part whose time is over, from that of its step, which may name a process that was left behind; else
/// with what its ranks had done.
std::string walltime_in(const ZoneName& zone, const std::string& why, const std::string& ranks) {
    const std::size_t rest = std::min(why.find(": "), why.size());
    return why.substr(0, rest) + " in zone " + zone + (rest < why.size() ? why.substr(rest) : ranks);
}

/// What the ends of its processes say together.
struct Ends {
    bool all_gone = true;
    bool any_gone = false;
    bool never_started = false;  ///< the zone stopped between storing the launch and acting on it
    bool is_site_fault = false;
    int worst = 0;       ///< exit code
    std::string why;     ///< of the one that explains most
    std::string remark;  ///< on one that ended well
};

Ends ends_of(const Observation& seen, const ZoneName& zone) {
    Ends ends;
    for (const StepStatus& step : seen.steps) {
        if (step.state == StepStatus::State::kRunning) {
            ends.all_gone = false;
            continue;
        }
        ends.any_gone = true;
        if (step.state == StepStatus::State::kUnknown) {
            ends.never_started = true;
        } else if (step.exit_code != 0 || explains_end(step.reason)) {
            // The end of one takes the others along: the walltime that ended one, or its machine, is why all ended.
            if (ends.worst == 0 || explains_end(step.reason)) ends.why = step.reason;
            // In its grace the program may have ended with 0: its time was over nevertheless.
            // Where the launcher gave up because a proxy was killed, the other proxies end with a code.
            if (ends.worst == 0 || (ends.worst <= 128 && step.exit_code > 128))
                ends.worst = step.exit_code != 0 ? step.exit_code : kTerminated;
            ends.is_site_fault = ends.is_site_fault || step.is_site_fault;
        } else if (!step.reason.empty()) {
            ends.remark = step.reason + " in zone " + zone;
        }
    }
    return ends;
}

/// One step of one part.
class Machine {
  public:
    Machine(const ZoneConfig& config, const State& state, Now now) : config_(config), state_(state), now_(now) {}

    Result<Step> on(const Commit&) const {
        if (!is<Held>()) return Step{};
        Step step = enter(PartState::kCommitted, {});
        const bool waits = is_reserved(state_.record);
        const Duration begin = waits ? std::max(state_.start, now_.steady) : now_.steady;
        step.next->phase = Committed{.until = begin + config_.launch_window};
        if (!is_queued(state_.record)) step.effects.emplace_back(Promise{});
        step.effects.emplace_back(KeepAllocation{});
        step.effects.emplace_back(Reach{failpoint::Point::kPeerCommitStored});
        return step;
    }

    Result<Step> on(const Launch& launch) const {
        ZBS_EXPECTS(is<Committed>() && launch.machines.size() == launch.request.proxies.size());
        Step step = enter(PartState::kRunning, {});
        PartRecord& record = step.next->record;
        // Intent before act: once this is stored, recovery asks the executor about these steps instead of guessing.
        record.operation = launch.request.operation;
        record.profile = launch.request.profile && !config_.profiler.empty();
        for (const LaunchRequest::Proxy& proxy : launch.request.proxies) record.proxies.push_back(proxy.id);
        record.machines = launch.machines;
        record.starts_at = now_.wall;
        step.next->phase = Running{};
        step.next->start = now_.steady;
        step.effects = {Promise{}, Reach{failpoint::Point::kPeerLaunchStored}, StartSteps{launch.request}};
        return step;
    }

    Result<Step> on(const StartFailed& failed) const {
        return stop({.reason = failed.reason, .grace = kStopGrace, .is_asked = false, .not_started = true});
    }

    Result<Step> on(const Release& release) const {
        if (is<Held>() || is<Committed>()) return end_unlaunched(PartState::kReleased, release.reason);
        return stop({.reason = release.reason.empty() ? "released by home" : release.reason,
                     .grace = grace_of(config_, state_.record.request.grace),
                     .is_asked = true},
                    true);
    }

    Result<Step> on(const Block&) const {
        if (is<Held>() || is<Committed>()) return end_unlaunched(PartState::kReleased, kBlockedReason);
        return stop({.reason = kBlockedReason, .grace = kStopGrace, .is_asked = true});
    }

    Result<Step> on(const Withdraw& withdraw) const {
        if (is<Held>() || is<Committed>()) return end_unlaunched(PartState::kReleased, withdraw.reason);
        return Step{};
    }

    Result<Step> on(const Granted&) const {
        // It was none before, or nobody knew.
        Step step{.next = state_};
        if (is<Held>())
            step.next->phase = Held{.until = now_.steady + config_.hold_ttl};
        else if (Committed* committed = std::get_if<Committed>(&step.next->phase))
            committed->until = std::max(state_.start, now_.steady) + config_.launch_window;
        else
            return Step{};
        step.effects.emplace_back(Promise{});
        return step;
    }

    Result<Step> on(const Placed& placed) const {
        if (!is_queued(state_.record)) return Step{};
        Step step{.next = state_, .saves = true};
        step.next->record.processors = placed.placement.processors;
        step.next->record.status.assignment = placed.placement.assignment;
        step.next->start = now_.steady;
        // A hold keeps the time that it has been given to be committed in.
        if (Committed* committed = std::get_if<Committed>(&step.next->phase))
            committed->until = now_.steady + config_.launch_window;
        step.effects = {LeaveQueue{}, Promise{}};
        return step;
    }

    Result<Step> on(const FilesAnnounced& announced) const {
        if (!is<Committed>() || state_.record.staging == announced.staging) return Step{};
        if (state_.record.staging)
            return Error{ErrorCode::kConflict,
                         "part " + to_string(state_.record.request.id) + " was announced with other files before",
                         "/staging"};
        Step step{.next = state_, .saves = true};
        step.next->record.staging = announced.staging;
        return step;
    }

    /// The part is given back a launch window after home falls silent, and once the time for files is over.
    Result<Step> on(const FilesMoved& moved) const {
        if (!is<Committed>()) return Step{};
        Step step{.next = state_};
        Committed& committed = std::get<Committed>(step.next->phase);
        const bool waits = is_reserved(state_.record);
        const Duration begin = waits ? std::max(state_.start, now_.steady) : now_.steady;
        if (!committed.staging_since) committed.staging_since = begin;
        if (now_.steady - *committed.staging_since > config_.staging.window) return step;
        committed.until = std::max(committed.until, std::min(begin + config_.launch_window, moved.latest_launch));
        if (!is_queued(state_.record)) step.effects.emplace_back(Promise{});
        return step;
    }

    Result<Step> on(const InputsBrought&) const {
        if (!is<Committed>()) return Step{};
        Step step{.next = state_};
        std::get<Committed>(step.next->phase).has_inputs = true;
        return step;
    }

    Result<Step> on(const TimePassed&) const {
        const std::optional<Duration> deadline = deadline_of(state_);
        if (!deadline || now_.steady < *deadline) return Step{};
        if (is<Held>()) return end_unlaunched(PartState::kExpired, "the hold was not committed in time");
        return end_unlaunched(PartState::kReleased, "committed, but not launched within the launch window");
    }

    Result<Step> on(const ProcessesSeen& event) const {
        const Observation& seen = event.seen;
        const Returning* returning = std::get_if<Returning>(&state_.phase);
        if (state_.record.status.state != PartState::kRunning) return Step{};
        const Ends ends = ends_of(seen, config_.name());
        if (!returning && (!ends.all_gone || (ends.never_started && is<Running>()))) return while_running(seen, ends);
        if (!seen.is_allocated || (returning && returning->stage == Returning::Stage::kGivenBack))
            return end_run(seen, ends);
        Step step;
        if (!returning) {
            step.next = state_;
            const Stop* stop = stop_of(state_);
            step.next->phase = Returning{.stop = stop ? std::optional(*stop) : std::nullopt};
        }
        return ask_site(std::move(step), returning ? returning->stage : Returning::Stage::kToJudge);
    }

    Result<Step> on(const Judged& judged) const {
        const Returning* returning = std::get_if<Returning>(&state_.phase);
        if (!returning || returning->stage != Returning::Stage::kToJudge) return Step{};
        // Before it is given back: afterwards its end would look like one that others made.
        Step step{.next = state_, .saves = true};
        step.next->record.verdict = judged.verdict;
        return ask_site(std::move(step), Returning::Stage::kToGiveBack);
    }

    Result<Step> on(const GivenBack&) const {
        if (!is<Returning>()) return Step{};
        Step step{.next = state_, .saves = false, .effects = {LookAgain{}}};
        std::get<Returning>(step.next->phase).stage = Returning::Stage::kGivenBack;
        return step;
    }

  private:
    template <class T>
    bool is() const {
        return std::holds_alternative<T>(state_.phase);
    }

    Step enter(PartState state, const std::string& reason) const {
        ZBS_EXPECTS(allowed(state_.record.status.state, state));
        Step step{.next = state_, .saves = true};
        step.next->record.status.state = state;
        step.next->record.status.reason = reason;
        if (!is_final(state)) return step;
        step.next->record.ended = now_.wall;
        step.next->phase = Ended{};
        return step;
    }

    /// Giving a hold back in time says nothing of home: it costs nothing, so it could be done all day to gain trust.
    Step end_unlaunched(PartState state, const std::string& reason) const {
        Step step = enter(state, reason);
        const std::optional<Duration> deadline = deadline_of(state_);
        if (state == PartState::kExpired || (is<Committed>() && deadline && now_.steady >= *deadline))
            step.effects.emplace_back(RecordTrust{TrustEvent::kHoldDropped});
        step.effects.emplace_back(GiveBack{});
        return step;
    }

    /// Again with a shorter grace the end comes earlier. `counts_as_asked`: also where it was being stopped.
    Step stop(Stop wanted, bool counts_as_asked = false) const {
        if (state_.record.status.state != PartState::kRunning) return {};
        Step step{.next = state_};
        if (is<Running>()) {
            step.effects = {StopSteps{wanted.grace}, LookAgain{}};
            step.next->phase = Stopping{std::move(wanted)};
        } else if (Stopping* stopping = std::get_if<Stopping>(&step.next->phase)) {
            Stop& known = stopping->stop;
            if (wanted.grace >= known.grace && !counts_as_asked) return {};
            known.is_asked = known.is_asked || counts_as_asked;
            if (wanted.grace < known.grace) {
                known.grace = wanted.grace;
                step.effects.emplace_back(StopSteps{wanted.grace});
            }
            step.effects.emplace_back(LookAgain{});
        } else {
            std::optional<Stop>& known = std::get<Returning>(step.next->phase).stop;
            if (!known) return {};  // its processes had ended before
            known->is_asked = known->is_asked || counts_as_asked;
        }
        return step;
    }

    /// What the site's own scheduler has to do next.
    Step ask_site(Step step, Returning::Stage stage) const {
        const bool is_judged = (step.next ? *step.next : state_).record.verdict.has_value();
        if (stage == Returning::Stage::kToJudge && !is_judged) {
            if (step.next) step.effects.emplace_back(AskVerdict{});
            return step;
        }
        if (!step.next) return step;
        std::get<Returning>(step.next->phase).stage = Returning::Stage::kToGiveBack;
        step.effects.emplace_back(ReturnAllocation{});
        return step;
    }

    /// MPICH's proxy may end with 0 after a rank whose program was not executed.
    std::string not_begun(const Observation& seen, const Ends& ends) const {
        const bool may_be = (ends.worst != 0 || ends.all_gone) && !explains_end(ends.why);
        return may_be ? seen.not_begun : std::string{};
    }

    std::string fault_of(const Observation& seen, const Ends& ends) const {
        const ZoneName zone = config_.name();
        if (const std::string why = not_begun(seen, ends); !why.empty())
            return std::string(kNotBegunReason) + " in zone " + zone + ": " + why;
        if (ends.worst != 0 && explains_end(ends.why))
            return ends.why.starts_with(kWalltimeReason) ? walltime_in(zone, ends.why, seen.ranks_at_walltime)
                                                         : ends.why + " in zone " + zone;
        if (ends.worst != 0)
            return "a proxy of zone " + zone + " ended with code " + std::to_string(ends.worst) +
                   (ends.why.empty() ? "" : ": " + ends.why);
        if (ends.never_started && is<Running>())
            return "zone " + zone + " stopped before it had started all of its part";
        return {};
    }

    /// One proxy lost takes its ranks with it: the part cannot go on.
    Step while_running(const Observation& seen, const Ends& ends) const {
        if (!is<Running>()) return {};
        const std::optional<RankEnd>& end = seen.first_end;
        const bool explains = explains_end(ends.why);
        std::string fault = fault_of(seen, ends);
        const bool not_started = ends.never_started && ends.worst == 0 && not_begun(seen, ends).empty();
        // MPICH's proxy of a rank that left early ends with 0, and the ranks of other proxies wait for that rank.
        if (fault.empty() && ends.any_gone && end && end->before_finalize &&
            std::chrono::abs(now_.wall - end->at) > kLauncherEnds)
            fault = reason_of(*end, state_.record, config_.name());
        const Duration grace = grace_of(config_, state_.record.request.grace);
        if (ends.worst != 0 && !explains && not_begun(seen, ends).empty() && end && lets_others_end(*end) &&
            now_.wall - end->at < grace)
            return {};
        if (fault.empty()) return {};
        const bool has_time = ends.worst != 0 && ends.why.starts_with(kWalltimeReason);
        return stop({.reason = std::move(fault),
                     .grace = has_time ? grace : kStopGrace,
                     .is_asked = false,
                     .not_started = not_started});
    }

    /// How a part ends whose processes are gone: state and reason.
    struct End {
        PartState state = PartState::kCompleted;
        std::string reason;
        int exit_code = 0;
    };

    End end_of(const Observation& seen, const Ends& ends) const {
        const Stop* stop = stop_of(state_);
        const std::string verdict = state_.record.verdict.value_or("");
        // Slurm ends nodes one after the other: by the time of its verdict this zone may have stopped the others.
        if (!verdict.empty() && !(stop && stop->is_asked))
            return {PartState::kFailed,
                    verdict.starts_with(kWalltimeReason)
                        ? walltime_in(config_.name(), verdict, seen.ranks_at_walltime)
                        : std::string(kTakenBackReason) + ": " + verdict + " in zone " + config_.zone.name,
                    ends.worst != 0 ? ends.worst : kTerminated};
        const std::string fault = fault_of(seen, ends);
        if (!stop)
            return {fault.empty() ? PartState::kCompleted : PartState::kFailed, fault.empty() ? ends.remark : fault,
                    ends.worst};
        // Another rank's connection may break before its machine is given up: that one is why all ended.
        // Also where home asked for an end during the grace of the walltime, which came first.
        const bool came_first = stop->is_asked ? ends.why.starts_with(kWalltimeReason)
                                               : explains_end(ends.why) || !not_begun(seen, ends).empty();
        return {stop->is_asked ? PartState::kReleased : PartState::kFailed, came_first ? fault : stop->reason,
                ends.worst};
    }

    Step end_run(const Observation& seen, const Ends& ends) const {
        const Stop* stop = stop_of(state_);
        End end = end_of(seen, ends);
        // A bad end is the user's to know of; what the launcher's proxies made of it is not.
        std::optional<RankEnd> first;
        const bool is_walltime = end.state == PartState::kFailed && end.reason.starts_with(kWalltimeReason);
        if (is_walltime || (!(stop && stop->is_asked) && state_.record.verdict.value_or("").empty() &&
                            not_begun(seen, ends).empty() && !explains_end(ends.why)))
            first = seen.first_end;
        // The supervisor of a rank that was stopped ends with 0, and so do proxy and launcher.
        if (end.state == PartState::kCompleted &&
            ((first && first->in_stop) || ends.remark.starts_with(kStepStoppedReason)))
            end = {PartState::kFailed, std::string(kStoppedReason) + " in zone " + config_.zone.name, kTerminated};
        // Ranks abort when the walltime of another zone, which is a little earlier, has ended their peers.
        if (first && (first->in_stop || (is_walltime && first->how == RankEndKind::kAborted))) first.reset();
        if (first && end.state == PartState::kFailed)
            end.reason = (is_walltime ? end.reason + std::string(kBeforeWalltimeReason) : "") +
                         reason_of(*first, state_.record, config_.name());
        Step step = enter(end.state, end.reason);
        PartStatus& status = step.next->record.status;
        status.exit_code = end.exit_code;
        status.first_end = first;
        status.has_profile = seen.has_profile;
        step.effects.emplace_back(RecordRun{});
        const bool not_started = ends.is_site_fault || (stop && stop->not_started);
        if (end.state == PartState::kCompleted || (end.state == PartState::kFailed && !not_started)) {
            step.effects.emplace_back(RecordTrust{TrustEvent::kHoldKept});
            step.effects.emplace_back(
                RecordTrust{end.state == PartState::kCompleted ? TrustEvent::kCleanEnd : TrustEvent::kDirtyEnd});
        }
        step.effects.emplace_back(GiveBack{});
        // A result may have the name of an input: with results the inputs are removed once those are stored.
        if (state_.record.staging && state_.record.staging->results.empty()) step.effects.emplace_back(RemoveInputs{});
        return step;
    }

    const ZoneConfig& config_;
    const State& state_;
    Now now_;
};

/// Whether state and launch fit together: what the machine says of one record. Errors: kConflict.
Result<void> check_record(const PartRecord& record) {
    const PartState state = record.status.state;
    const bool launched = !record.operation.empty();
    const bool must = state == PartState::kRunning || state == PartState::kCompleted || state == PartState::kFailed;
    const bool must_not = state == PartState::kHeld || state == PartState::kCommitted || state == PartState::kExpired;
    if ((!must || launched) && (!must_not || !launched)) return {};
    return Error{ErrorCode::kConflict,
                 "part " + to_string(record.request.id) + " in the database is '" + to_string(state) + "', but was " +
                     (launched ? "" : "never ") + "launched; restore the database from a backup",
                 {}};
}

}  // namespace

Result<Step> step(const ZoneConfig& config, const State& state, const Event& event, Now now) {
    const Machine machine(config, state, now);
    return std::visit([&machine](const auto& one) { return machine.on(one); }, event);
}

Result<void> check_launch(const State& state, Now now) {
    const std::string part = "part " + to_string(state.record.request.id);
    if (!std::holds_alternative<Committed>(state.phase))
        return Error{
            ErrorCode::kConflict, part + " is " + to_string(state.record.status.state) + ", not committed", {}};
    if (is_queued(state.record)) return Error{ErrorCode::kConflict, part + " waits for processors in the queue", {}};
    if (is_reserved(state.record) && now.steady + kEarly < state.start)
        return Error{ErrorCode::kConflict,
                     part + " is reserved for a start in " + std::to_string(to_seconds(state.start - now.steady)) +
                         " s, not for now",
                     {}};
    return {};
}

Step begin(const ZoneConfig& config, PartRecord record, Now now) {
    if (record.request.start_in > Duration{0}) record.starts_at = now.wall + record.request.start_in;
    record.request.delegation.reset();  // has done its work
    record.status.state = PartState::kHeld;
    Step step{.next = State{}, .saves = true, .effects = {Enter{}}};
    step.next->start = now.steady + record.request.start_in;
    step.next->phase = Held{.until = now.steady + config.hold_ttl};
    if (record.request.queued)
        step.effects.emplace_back(JoinQueue{});
    else
        step.effects.insert(step.effects.end(), {Promise{}, AskAllocation{}});
    step.effects.emplace_back(Reach{failpoint::Point::kPeerHoldStored});
    step.next->record = std::move(record);
    return step;
}

Result<State> resume(const ZoneConfig& config, PartRecord record, Now now) {
    if (auto good = check_record(record); !good) return good.error();
    State state{.record = std::move(record), .phase = Running{}, .start = now.steady};
    if (state.record.starts_at) state.start += *state.record.starts_at - now.wall;
    state.start = is_reserved(state.record) ? std::max(state.start, now.steady) : std::min(state.start, now.steady);
    if (is_final(state.record.status.state))
        state.phase = Ended{};
    else if (state.record.status.state == PartState::kHeld)
        state.phase = Held{.until = now.steady + config.hold_ttl};
    else if (state.record.status.state == PartState::kCommitted)
        state.phase = Committed{.until = std::max(now.steady, state.start) + config.launch_window};
    return state;
}

bool is_reserved(const PartRecord& record) {
    return record.starts_at &&
           (record.status.state == PartState::kHeld || record.status.state == PartState::kCommitted);
}

bool is_queued(const PartRecord& record) {
    return record.request.queued && record.processors.empty() && !is_final(record.status.state);
}

Duration grace_of(const ZoneConfig& config, Duration asked) { return std::min(asked, config.max_grace); }

Duration longest_run(const ZoneConfig& config, Duration walltime, Duration grace) {
    return walltime + grace_of(config, grace) + kStopSlack;
}

ProcessorCalendar::Interval interval_of(const ZoneConfig& config, Duration now, Duration start_in, Duration walltime,
                                        Duration grace) {
    const Duration latest = now + std::max(start_in, config.hold_ttl) + config.launch_window;
    return {now + start_in, latest + longest_run(config, walltime, grace)};
}

std::optional<Duration> deadline_of(const State& state) {
    if (const Held* held = std::get_if<Held>(&state.phase)) return held->until;
    const Committed* committed = std::get_if<Committed>(&state.phase);
    if (committed && !is_queued(state.record)) return committed->until;
    return std::nullopt;
}

const Stop* stop_of(const State& state) {
    if (const Stopping* stopping = std::get_if<Stopping>(&state.phase)) return &stopping->stop;
    const Returning* returning = std::get_if<Returning>(&state.phase);
    return returning && returning->stop ? &*returning->stop : nullptr;
}

}  // namespace zbs::part
