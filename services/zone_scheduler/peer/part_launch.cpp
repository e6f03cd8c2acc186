// What becomes of a hold: commit, launch, the watch over what runs, its end and the profile it leaves.
#include <algorithm>
#include <set>
#include <utility>

#include "algorithms/formats/rank_profile.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/states.hpp"
#include "services/common/messages/steps/lost_machine.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/launch/mpich.hpp"
#include "services/zone_scheduler/launch/open_mpi.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

bool explains_end(const std::string& reason) {
    return reason.starts_with(kWalltimeReason) || reason.starts_with(kLostMachineReason) ||
           reason.starts_with(kLostSupervisorReason) || reason.starts_with(kFolderReason);
}

std::string model_file() { return std::string(own_files::kProfile); }
constexpr std::size_t kMaxModelBytes = limits::kMaxReplyBytes;  // a larger one could not be handed on
constexpr Duration kStopGrace = std::chrono::seconds{1};        ///< of work that cannot go on, or must not
/// That the launcher may take to end all ranks after one has left early.
constexpr Duration kLauncherEnds = std::chrono::seconds{2};
constexpr int kTerminated = 128 + 15;  ///< exit code of what SIGTERM ended
/// How much before the start of a reservation its home may launch: clocks run at different speeds.
constexpr Duration kEarly = std::chrono::seconds{2};

/// A library of the job's own comes first: her tool sees all calls, ours those that go on.
void preload(const std::string& profiler, std::vector<std::pair<std::string, std::string>>& environment) {
    constexpr const char* kPreload = "LD_PRELOAD";
    const auto own = std::ranges::find(environment, kPreload, &std::pair<std::string, std::string>::first);
    if (own == environment.end())
        environment.emplace_back(kPreload, profiler);
    else
        own->second += ":" + profiler;
}

/// What the end of a rank is for the reason: with zone and machine.
std::string reason_of(const RankEnd& end, const PartRecord& record, const ZoneName& zone) {
    const auto& places = record.status.assignment;
    const auto place = std::ranges::find(places, end.rank, &RankPlace::rank);
    return describe(end, zone + (place == places.end() ? "" : "." + place->machine));
}

Error blocked(const PartId& id) {
    return {ErrorCode::kDenied, "the user or the home of part " + to_string(id) + " was blocked", {}};
}

Error wrong_token(const PartId& id) {
    return {ErrorCode::kConflict, "the token does not match the hold of part " + to_string(id), "/token"};
}
/// The reason of a part whose time is over, from that of its step, which may name a process that was left behind; else
/// with what its ranks had done.
std::string walltime_in(const ZoneName& zone, const std::string& why, const std::string& ranks) {
    const std::size_t rest = std::min(why.find(": "), why.size());
    return why.substr(0, rest) + " in zone " + zone + (rest < why.size() ? why.substr(rest) : ranks);
}

}  // namespace

Result<PartStatus> PartService::commit(const Caller& caller, const PartId& id, std::uint64_t token) {
    const Result<std::shared_ptr<ActivePart>> found = find(caller, id);
    if (!found) return found.error();
    ActivePart* const part = found->get();
    if (part->record.status.token != token) {
        peerings_.record(caller.organisation, TrustEvent::kFailedCheck);
        return wrong_token(id);
    }
    if (is_blocked(part->record)) return blocked(id);
    if (auto ok = end_if_over(*part); !ok) return redact_for(caller, ok.error());
    end_if_lost(*part);
    if (allocations_.is_asked(id) && part->record.status.state == PartState::kHeld)
        return Error{ErrorCode::kUnavailable, "part " + to_string(id) + " is not held yet; ask again", {}};
    if (part->record.status.state == PartState::kHeld) {
        if (auto ok = save(*part, part->record, PartState::kCommitted, {}); !ok) return redact_for(caller, ok.error());
        part->deadline =
            (is_reserved(part->record) ? std::max(part->start, clock_.steady_now()) : clock_.steady_now()) +
            config_.launch_window;
        if (!is_queued(part->record)) promise_anew(*part);
        allocations_.keep(id);
        if (auto reached = failpoint::reach(failpoint::Point::kPeerCommitStored); !reached)
            return redact_for(caller, reached.error());
    } else if (is_final(part->record.status.state)) {
        return Error{
            ErrorCode::kConflict,
            "part " + to_string(id) + " is " + to_string(part->record.status.state) + ": " + view(*part).reason,
            {}};
    }
    return view(*part);
}

Result<PartStatus> PartService::launch(const Caller& caller, const PartId& id, const LaunchRequest& request) {
    const Result<std::shared_ptr<ActivePart>> found = find(caller, id);
    if (!found) return found.error();
    ActivePart* const part = found->get();
    PartRecord& record = part->record;
    if (record.status.token != request.token) {
        peerings_.record(caller.organisation, TrustEvent::kFailedCheck);
        return wrong_token(id);
    }
    // Steps are named after it: under another name a peer could reach the processes of somebody else's part.
    if (request.operation != launch_operation(id)) return invalid("must be " + launch_operation(id), "/operation");
    if (record.operation == request.operation) return view(*part);  // asked again: nothing starts twice
    if (is_blocked(record)) return blocked(id);
    if (auto ok = end_if_over(*part); !ok) return redact_for(caller, ok.error());
    if (record.status.state != PartState::kCommitted) {
        return Error{ErrorCode::kConflict,
                     "part " + to_string(id) + " is " + to_string(record.status.state) + ", not committed",
                     {}};
    }
    if (is_queued(record))
        return Error{ErrorCode::kConflict, "part " + to_string(id) + " waits for processors in the queue", {}};
    if (is_reserved(record) && clock_.steady_now() + kEarly < part->start) {
        return Error{ErrorCode::kConflict,
                     "part " + to_string(id) + " is reserved for a start in " +
                         std::to_string(to_seconds(part->start - clock_.steady_now())) + " s, not for now",
                     {}};
    }
    if (!is_ready(*part)) {
        return Error{
            ErrorCode::kUnavailable,
            "the processors of part " + to_string(id) +
                " are not free yet: what ran there has not ended, or the machine is not there; ask again or plan anew",
            {}};
    }
    if (auto staged = staging_.check_staged(record); !staged) return staged.error();
    if (auto good = check_launcher(caller, request); !good) return good.error();
    if (request.proxies.size() > record.request.ranks.size()) {
        return invalid("more proxies (" + std::to_string(request.proxies.size()) + ") than ranks (" +
                           std::to_string(record.request.ranks.size()) + ") in this part",
                       "/proxies");
    }
    std::set<int> numbers;
    for (const LaunchRequest::Proxy& proxy : request.proxies) {
        if (!numbers.insert(proxy.id).second)
            return invalid("proxy " + std::to_string(proxy.id) + " is named twice", "/proxies");
    }
    std::map<MachineName, MachineName> machines;  // as home knows them -> ours
    const std::vector<RankPlace> shown = view(*part).assignment, &own = record.status.assignment;
    ZBS_EXPECTS(shown.size() == own.size());
    for (std::size_t i = 0; i < own.size(); ++i) machines.emplace(shown[i].machine, own[i].machine);
    std::vector<std::vector<std::string>> commands;
    for (const LaunchRequest::Proxy& proxy : request.proxies) {
        if (!machines.contains(proxy.machine))
            return invalid("machine '" + proxy.machine + "' is not in this part", "/proxies");
        Result<std::vector<std::string>> argv = proxy_command(config_, request, proxy.id);
        if (!argv) return Error{ErrorCode::kInvalidArgument, argv.error().message, "/options"};
        commands.push_back(*std::move(argv));
    }

    // Intent before act: once this is stored, recovery asks the executor about these steps instead of guessing.
    PartRecord changed = record;
    changed.operation = request.operation;
    changed.profile = request.profile && !config_.profiler.empty();
    for (const LaunchRequest::Proxy& proxy : request.proxies) {
        changed.proxies.push_back(proxy.id);
        changed.machines.push_back(machines.at(proxy.machine));
    }
    ZBS_EXPECTS(allowed(record.status.state, PartState::kRunning));
    changed.status.state = PartState::kRunning;
    changed.starts_at = clock_.now();
    if (auto ok = filter_.record_run(record.account); !ok) return redact_for(caller, ok.error());
    if (auto ok = store_.save(changed); !ok) return redact_for(caller, ok.error());
    record = std::move(changed);
    observer_->part_entered(record);
    part->start = clock_.steady_now();
    promise_anew(*part);
    if (auto reached = failpoint::reach(failpoint::Point::kPeerLaunchStored); !reached)
        return redact_for(caller, reached.error());

    place_steps(record);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        Result<void> started = i == 0 ? Result<void>{} : failpoint::reach(failpoint::Point::kPeerBetweenProxies);
        if (started) {
            Result<StepSpec> placed = proxy_step(record, request, i, std::move(commands[i]));
            started = placed ? executor_.start(*placed) : Result<void>(placed.error());
        }
        if (!started) {
            const std::string reason =
                "zone " + config_.zone.name + " could not start its part: " + started.error().message;
            log_.warn("launch_failed", {{"part", to_string(id)}, {"reason", reason}});
            part->not_started = true;
            stop_steps(*part, reason, kStopGrace);
            check_running(*part);
            watch();
            PartStatus failed = view(*part);
            failed.state = PartState::kFailed;  // final as soon as what had started is gone
            if (caller.organisation == config_.organisation) {
                failed.reason = reason;
                return failed;
            }
            return outside_view(std::move(failed), false);
        }
    }
    executor_.end_staging(to_string(id));  // each step has asked in its own name
    sharing_.note_change();
    sharing_.send();
    log_.info(
        "part_launched",
        {{"part", to_string(id)}, {"operation", request.operation}, {"proxies", std::to_string(commands.size())}});
    watch();
    return view(*part);
}

/// Whether this caller may have proxies that do what the request says.
Result<void> PartService::check_launcher(const Caller& caller, const LaunchRequest& request) {
    if (is_srun(request.launcher) != request.program.has_value())
        return invalid("must be there for srun, and for no other launcher", "/program");
    if (needs_own_zone(request.launcher)) {
        if (caller != Caller{CallerKind::kZone, config_.organisation, config_.zone.name})
            return Error{ErrorCode::kDenied,
                         std::string("launcher ") + to_string(request.launcher) + " is for a zone's own users only",
                         "/launcher"};
        if (const std::string why = why_no_launcher(config_, request.launcher); !why.empty())
            return Error{ErrorCode::kRejected, why, "/launcher"};
        return {};
    }
    const Result<std::string> launcher = mpich::coordinator_host(request.options);
    if (!launcher) return Error{ErrorCode::kInvalidArgument, launcher.error().message, "/options"};
    if (caller.organisation == config_.organisation) return {};
    if (auto good = check_address_(*launcher); !good) {
        peerings_.record(caller.organisation, TrustEvent::kFailedCheck);
        return Error{ErrorCode::kDenied, "proxies here may not connect to " + *launcher + ": " + good.error().message,
                     "/options"};
    }
    return {};
}

/// The step of the i-th proxy of a part that is on record as running.
Result<StepSpec> PartService::proxy_step(const PartRecord& record, const LaunchRequest& request, std::size_t i,
                                         std::vector<std::string> command) {
    const std::vector<StepId> steps = steps_of(record);
    const StepId profile_step = profile_steps(record).at(record.machines[i]);
    StepSpec step{.step_id = steps[i],
                  .argv = std::move(command),
                  .account = config_.run_as_accounts ? record.account : AccountName{},
                  .shares = {profile_step},
                  .walltime = record.request.walltime,
                  .grace = grace_of(record.request.grace),
                  .is_launcher = !is_srun(request.launcher)};
    AllocatedTasks tasks{.machines = {record.machines[i]}};
    if (request.program) {
        tasks = {.machines = {},
                 .pmi = request.launcher == Launcher::kSrunPmix ? "pmix" : "pmi2",
                 .folder = executor_.folder(steps[i])};
        for (const RankPlace& place : record.status.assignment) tasks.machines.push_back(place.machine);
        step.directory = request.program->directory;
        step.environment = request.program->environment;
    }
    if (std::ranges::find(step.environment, "PATH", &std::pair<std::string, std::string>::first) ==
        step.environment.end())
        step.environment.emplace_back("PATH", "/usr/local/bin:/usr/bin:/bin");
    step.environment.emplace_back(kZoneVariable, config_.zone.name);
    step.environment.emplace_back("ZBS_APPLICATION", to_string(record.request.application));
    if (!is_srun(request.launcher)) step.environment.emplace_back(kRankEndsVariable, executor_.folder(steps[i]));
    if (request.launcher == Launcher::kOpenMpi) {
        const std::string folder = executor_.folder(steps[i]);
        // Machines without agent and Slurm are this host.
        const bool share_a_host =
            allocations_.in_use() ? ledger_.may_share_a_host(record.machines) : record.machines.size() > 1;
        for (auto& variable : open_mpi::daemon_environment(folder, share_a_host ? folder : ""))
            step.environment.push_back(std::move(variable));
    }
    if (request.preload && !config_.profiler.empty()) {
        preload(config_.profiler, step.environment);
        if (!is_srun(request.launcher)) {
            step.environment.emplace_back(kRankPreloadVariable, config_.profiler);
            step.environment.emplace_back(kRankMachineVariable, config_.zone.name + "." + record.machines[i]);
        }
        step.environment.emplace_back("ZBS_PROFILE_OUT", executor_.folder(profile_step) + "/" + model_file());
        if (!record.profile) step.environment.emplace_back("ZBS_PROFILE", "0");
    }
    staging_.add_to(record, i, step);
    return allocations_.step_in(record.request.id, tasks, std::move(step));
}

std::vector<StepId> PartService::steps_of(const PartRecord& record) const {
    return step_ids(record.operation, record.proxies);
}

/// By machine, the step in whose folder all proxies of that machine leave their profiles.
std::map<MachineName, StepId> PartService::profile_steps(const PartRecord& record) const {
    std::map<MachineName, StepId> first;
    const std::vector<StepId> steps = steps_of(record);
    for (std::size_t i = 0; i < steps.size(); ++i)
        first.emplace(i < record.machines.size() ? record.machines[i] : MachineName{}, steps[i]);
    return first;
}

void PartService::place_steps(const PartRecord& record) {
    const std::vector<StepId> steps = steps_of(record);
    for (std::size_t i = 0; i < record.machines.size(); ++i) executor_.place(steps[i], record.machines[i]);
    executor_.share_output(steps);
    results_.request(record);
}

/// Again with a shorter grace the end comes earlier.
void PartService::stop_steps(ActivePart& part, const std::string& reason, Duration grace) {
    if (part.stopping && grace >= part.grace) return;
    if (!part.stopping) part.stop_reason = reason;
    part.stopping = true;
    part.grace = grace;
    for (const StepId& step : steps_of(part.record)) {
        // One that is not known may be late: its start was given up, or the zone died in it.
        if (executor_.status(step).state != StepStatus::State::kExited) executor_.stop(step, grace);
    }
}

void PartService::watch() {
    if (watching_) return;
    if (parts_.empty()) return;
    watching_ = true;
    clock_.after(config_.poll_every, [this] {
        watching_ = false;
        check_deadlines();
        watch();
    });
}

/// What still runs has its processors, whatever was promised of its end. Who gives processors out asks first: between
/// two looks of the watch a promise ends, and a zone that stood still hears the call before the clock.
void PartService::promise_overruns() {
    for (const auto& [id, part] : parts_)
        if (part->record.status.state == PartState::kRunning && promise_of(id).end <= clock_.steady_now())
            promise_anew(*part);
}

void PartService::check_deadlines() {
    promise_overruns();
    allocations_.check_around();
    for (const auto& [id, held] :
         std::map<PartId, std::shared_ptr<ActivePart>>(parts_)) {  // a copy: parts end on the way
        ActivePart& part = *held;
        stop_blocked(part);
        if (part.record.status.state == PartState::kRunning) {
            check_running(part);
        }
        end_if_lost(part);
        if (auto saved = end_if_over(part); !saved)
            log_.warn("store_failed", {{"part", to_string(id)}, {"reason", saved.error().message}});
    }
    run_queue();
    sharing_.send();
}

/// Ends a hold or a committed part whose time is over. The watch asks, and so does whoever uses a token: a zone that
/// stood still for a while may hear the call before the clock.
Result<void> PartService::end_if_over(ActivePart& part) {
    const PartState state = part.record.status.state;
    if (clock_.steady_now() < part.deadline || allocations_.is_asked(part.record.request.id)) return {};
    if (state == PartState::kHeld)
        return save(part, part.record, PartState::kExpired, "the hold was not committed in time");
    if (state == PartState::kCommitted && !is_queued(part.record))
        return save(part, part.record, PartState::kReleased, "committed, but not launched within the launch window");
    return {};
}

/// Who is blocked or revoked has nothing here any more, not even what runs already: its home may be unable or unwilling
/// to stop it.
void PartService::stop_blocked(ActivePart& part) {
    const PartState state = part.record.status.state;
    if (is_final(state) || !is_blocked(part.record)) return;
    constexpr const char* kWhy = "its user or home was blocked";
    if (state == PartState::kRunning) {
        if (!part.stopping) part.stop_asked = true;
        stop_steps(part, kWhy, kStopGrace);
    } else if (auto saved = save(part, part.record, PartState::kReleased, kWhy); !saved) {
        log_.warn("store_failed", {{"part", to_string(part.record.request.id)}, {"reason", saved.error().message}});
    }
}

void PartService::check_running(ActivePart& part) {
    bool all_gone = true, any_gone = false;
    bool never_started = false;
    int worst = 0;
    std::string why;
    std::string remark;  ///< on a step that ended well
    for (const StepId& step : steps_of(part.record)) {
        const StepStatus status = executor_.status(step);
        if (status.state == StepStatus::State::kRunning) {
            all_gone = false;
            continue;
        }
        any_gone = true;
        if (status.state == StepStatus::State::kExited && (status.exit_code != 0 || explains_end(status.reason))) {
            // The end of one takes the others along: the walltime that ended one, or its machine, is why all ended.
            if (worst == 0 || explains_end(status.reason)) why = status.reason;
            // In its grace the program may have ended with 0: its time was over nevertheless.
            // Where the launcher gave up because a proxy was killed, the other proxies end with a code.
            if (worst == 0 || (worst <= 128 && status.exit_code > 128))
                worst = status.exit_code != 0 ? status.exit_code : kTerminated;
            part.not_started = part.not_started || status.is_site_fault;
        } else if (status.state == StepStatus::State::kExited && !status.reason.empty()) {
            remark = status.reason + " in zone " + config_.zone.name;
        } else if (status.state == StepStatus::State::kUnknown) {
            never_started = true;  // the zone stopped between storing the launch and acting on it
            if (!part.stopping) executor_.stop(step, kStopGrace);
        }
    }
    std::string fault;
    // MPICH's proxy may end with 0 after a rank whose program was not executed.
    const bool may_not_have_begun = (worst != 0 || all_gone) && !explains_end(why);
    const std::string not_begun = may_not_have_begun ? why_not_begun(part.record) : std::string{};
    if (!not_begun.empty())
        fault = std::string(kNotBegunReason) + " in zone " + config_.zone.name + ": " + not_begun;
    else if (worst != 0 && explains_end(why))
        fault = why.starts_with(kWalltimeReason) ? walltime_in(config_.name(), why, where_ranks_are(part))
                                                 : why + " in zone " + config_.zone.name;
    else if (worst != 0)
        fault = "a proxy of zone " + config_.zone.name + " ended with code " + std::to_string(worst) +
                (why.empty() ? "" : ": " + why);
    else if (never_started && !part.stopping)
        fault = "zone " + config_.zone.name + " stopped before it had started all of its part";
    if (!fault.empty() && not_begun.empty() && worst == 0) part.not_started = true;
    if (!all_gone) {
        // MPICH's proxy of a rank that left early ends with 0, and the ranks of other proxies wait for that rank.
        if (fault.empty() && any_gone && !part.stopping) {
            const std::optional<RankEnd> end = first_end(part.record);
            if (end && end->before_finalize && std::chrono::abs(clock_.now() - end->at) > kLauncherEnds)
                fault = reason_of(*end, part.record, config_.name());
        }
        if (!part.stopping && worst != 0 && not_begun.empty() && !explains_end(why)) {
            const std::optional<RankEnd> end = first_end(part.record);
            if (end && lets_others_end(*end) && clock_.now() - end->at < grace_of(part.record.request.grace)) return;
        }
        // One proxy lost takes its ranks with it: the part cannot go on.
        const bool has_time = worst != 0 && why.starts_with(kWalltimeReason);
        if (!fault.empty() && !part.stopping)
            stop_steps(part, fault, has_time ? grace_of(part.record.request.grace) : kStopGrace);
        return;
    }
    if (!is_finished(part)) return;
    const std::string verdict = part.record.verdict.value_or("");
    // Slurm ends nodes one after the other: by the time of its verdict this zone may have stopped the others.
    const bool is_taken_back = !verdict.empty() && !part.stop_asked;
    if (is_taken_back) {
        const bool is_walltime = verdict.starts_with(kWalltimeReason);
        fault = is_walltime ? walltime_in(config_.name(), verdict, where_ranks_are(part))
                            : std::string(kTakenBackReason) + ": " + verdict + " in zone " + config_.zone.name;
        if (worst == 0) worst = kTerminated;
    }
    PartState end = PartState::kCompleted;
    std::string reason = remark;
    if (part.stopping && !is_taken_back) {
        // Another rank's connection may break before its machine is given up: that one is why all ended.
        // Also where home asked for an end during the grace of the walltime, which came first.
        const bool came_first =
            part.stop_asked ? why.starts_with(kWalltimeReason) : explains_end(why) || !not_begun.empty();
        reason = came_first ? fault : part.stop_reason;
        end = part.stop_asked ? PartState::kReleased : PartState::kFailed;
    } else if (!fault.empty()) {
        reason = fault;
        end = PartState::kFailed;
    }
    PartRecord changed = part.record;
    changed.status.exit_code = worst;
    // A bad end is the user's to know of; what the launcher's proxies made of it is not.
    std::optional<RankEnd>& first = changed.status.first_end;
    const bool is_walltime = end == PartState::kFailed && reason.starts_with(kWalltimeReason);
    if (is_walltime || (!part.stop_asked && verdict.empty() && not_begun.empty() && !explains_end(why)))
        first = first_end(part.record);
    // The supervisor of a rank that was stopped ends with 0, and so do proxy and launcher.
    if (end == PartState::kCompleted && ((first && first->in_stop) || remark.starts_with(kStepStoppedReason))) {
        end = PartState::kFailed;
        reason = std::string(kStoppedReason) + " in zone " + config_.zone.name;
        changed.status.exit_code = kTerminated;
    }
    // Ranks abort when the walltime of another zone, which is a little earlier, has ended their peers.
    if (first && (first->in_stop || (is_walltime && first->how == RankEndKind::kAborted))) first.reset();
    if (first && end == PartState::kFailed)
        reason = (is_walltime ? reason + std::string(kBeforeWalltimeReason) : "") +
                 reason_of(*first, part.record, config_.name());
    changed.status.has_profile =
        part.record.profile && profile(part.record.home_caller, part.record.request.id).has_value();
    auto ok = failpoint::reach(failpoint::Point::kPeerEndSeen);
    if (ok) ok = save(part, std::move(changed), end, reason);
    if (!ok) log_.warn("store_failed", {{"part", to_string(part.record.request.id)}, {"reason", ok.error().message}});
    // A result may have the name of an input: with results the inputs are removed once those are stored.
    if (ok && part.record.staging && part.record.staging->results.empty()) staging_.remove_inputs(part.record);
}

/// Why a program of the part was never executed, as the supervisor of a rank left it; else empty. The job may have
/// written anything there: one line of it counts, without control characters.
std::string PartService::why_not_begun(const PartRecord& record) const {
    constexpr std::uint64_t kMaxBytes = 4'096;
    constexpr std::size_t kMaxShown = 512;
    std::string why;
    for (const StepId& step : steps_of(record)) {
        for (const Executor::File& file : executor_.list(step, std::string(own_files::kEnd))) {
            const Result<std::string> text = executor_.read(step, file.name, 0, kMaxBytes);
            if (why.empty() && text) why = rank_fault(*text);
        }
    }
    why = why.substr(0, std::min(why.find('\n'), kMaxShown));
    std::ranges::replace_if(
        why, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return why;
}

std::string PartService::where_ranks_are(const ActivePart& part) const {
    return ranks_at_walltime(executor_, steps_of(part.record), part.record.request.ranks.size());
}

/// Of the ranks that left a record of their end the one that is why the others ended. The job may have written anything
/// there: what is of no rank of this part does not count.
std::optional<RankEnd> PartService::first_end(const PartRecord& record) const {
    constexpr std::uint64_t kMaxBytes = 256;
    std::optional<RankEnd> first;
    for (const StepId& step : steps_of(record)) {
        for (const Executor::File& file : executor_.list(step, std::string(own_files::kEnd))) {
            const Result<std::string> text = executor_.read(step, file.name, 0, kMaxBytes);
            const std::optional<RankEnd> end = text ? read_rank_end(file.name, *text) : std::nullopt;
            if (end && std::ranges::binary_search(record.request.ranks, end->rank) &&
                (!first || comes_before(*end, *first)))
                first = end;
        }
    }
    return first;
}

Result<ApplicationModel> PartService::profile(const Caller& caller, const PartId& id) const {
    const Result<std::shared_ptr<ActivePart>> found = find(caller, id);
    if (!found) return found.error();
    const ActivePart* const part = found->get();
    const Error none{ErrorCode::kNotFound, "part " + to_string(id) + " left no profile", {}};
    if (!part->record.profile || part->record.proxies.empty()) return none;
    const std::map<MachineName, StepId> steps = profile_steps(part->record);
    for (const auto& [machine, step] : steps) {
        const Result<std::string> text = executor_.read(step, model_file(), 0, kMaxModelBytes);
        if (!text) continue;
        if (Result<ApplicationModel> model = decode_(*text))
            return model;  // the user's program could have written anything there
    }
    // The run was cut short: every rank's own file is still there.
    std::vector<std::string> files;
    for (const auto& [machine, step] : steps) {
        for (const Executor::File& file : executor_.list(step, model_file() + ".rank.")) {
            if (Result<std::string> bytes = executor_.read(step, file.name, 0, kMaxModelBytes))
                files.push_back(*std::move(bytes));
        }
    }
    if (files.empty()) return none;
    const std::vector<std::string_view> views(files.begin(), files.end());
    Result<ApplicationModel> merged = formats::merge_rank_files(views);
    if (!merged) return none;
    return merged;
}

}  // namespace zbs
