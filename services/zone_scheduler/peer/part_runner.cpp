#include "services/zone_scheduler/peer/part_runner.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "algorithms/formats/rank_profile.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/launch/mpich.hpp"
#include "services/zone_scheduler/launch/open_mpi.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxModelBytes = limits::kMaxReplyBytes;  // a larger one could not be handed on
constexpr std::uint64_t kMaxRecordBytes = 4'096;                ///< of the record of a rank's end
constexpr std::size_t kMaxShown = 512;                          ///< bytes of what a job may have written, in a reason

std::string model_file() { return std::string(own_files::kProfile); }

std::vector<StepId> steps_of(const PartRecord& record) { return step_ids(record.operation, record.proxies); }

/// A library of the job's own comes first: her tool sees all calls, ours those that go on.
void preload(const std::string& profiler, std::vector<std::pair<std::string, std::string>>& environment) {
    constexpr const char* kPreload = "LD_PRELOAD";
    const auto own = std::ranges::find(environment, kPreload, &std::pair<std::string, std::string>::first);
    if (own == environment.end())
        environment.emplace_back(kPreload, profiler);
    else
        own->second += ":" + profiler;
}

/// Why a program of the part was never executed, as the supervisor of a rank left it; else empty. The job may have
/// written anything there: one line of it counts, without control characters.
std::string why_not_begun(const std::vector<std::pair<std::string, std::string>>& records) {
    std::string why;
    for (const auto& [file, text] : records)
        if (why.empty()) why = rank_fault(text);
    why = why.substr(0, std::min(why.find('\n'), kMaxShown));
    std::ranges::replace_if(
        why, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return why;
}

/// Of the ranks that left a record of their end the one that is why the others ended. The job may have written anything
/// there: what is of no rank of this part does not count.
std::optional<RankEnd> first_end(const PartRecord& record,
                                 const std::vector<std::pair<std::string, std::string>>& records) {
    constexpr std::size_t kMaxBytes = 256;
    std::optional<RankEnd> first;
    for (const auto& [file, text] : records) {
        const std::optional<RankEnd> end = read_rank_end(file, std::string_view(text).substr(0, kMaxBytes));
        if (end && std::ranges::binary_search(record.request.ranks, end->rank) &&
            (!first || comes_before(*end, *first)))
            first = end;
    }
    return first;
}

}  // namespace

Result<std::vector<MachineName>> PartRunner::machines_of(const PartRecord& record, const std::vector<RankPlace>& shown,
                                                         const LaunchRequest& request) const {
    if (request.proxies.size() > record.request.ranks.size())
        return invalid("more proxies (" + std::to_string(request.proxies.size()) + ") than ranks (" +
                           std::to_string(record.request.ranks.size()) + ") in this part",
                       "/proxies");
    const std::vector<RankPlace>& own = record.status.assignment;
    ZBS_EXPECTS(shown.size() == own.size());
    std::map<MachineName, MachineName> known;  // as home knows them -> ours
    for (std::size_t i = 0; i < own.size(); ++i) known.emplace(shown[i].machine, own[i].machine);
    std::set<int> numbers;
    std::vector<MachineName> machines;
    for (const LaunchRequest::Proxy& proxy : request.proxies) {
        if (!numbers.insert(proxy.id).second)
            return invalid("proxy " + std::to_string(proxy.id) + " is named twice", "/proxies");
        const auto machine = known.find(proxy.machine);
        if (machine == known.end()) return invalid("machine '" + proxy.machine + "' is not in this part", "/proxies");
        if (const auto command = proxy_command(p_.config, request, proxy.id); !command)
            return Error{ErrorCode::kInvalidArgument, command.error().message, "/options"};
        machines.push_back(machine->second);
    }
    return machines;
}

void PartRunner::place(const PartRecord& record) {
    const std::vector<StepId> steps = steps_of(record);
    for (std::size_t i = 0; i < record.machines.size(); ++i) p_.executor.place(steps[i], record.machines[i]);
    p_.executor.share_output(steps);
    p_.results.request(record);
}

Result<void> PartRunner::start(const PartRecord& record, const LaunchRequest& request) {
    place(record);
    for (std::size_t i = 0; i < request.proxies.size(); ++i) {
        if (i > 0) {
            if (auto reached = failpoint::reach(failpoint::Point::kPeerBetweenProxies); !reached) return reached;
        }
        Result<std::vector<std::string>> command = proxy_command(p_.config, request, request.proxies[i].id);
        if (!command) return command.error();
        const Result<StepSpec> step = step_of(record, request, i, *std::move(command));
        if (!step) return step.error();
        if (auto started = p_.executor.start(*step); !started) return started;
    }
    return {};
}

/// The step of the i-th proxy.
Result<StepSpec> PartRunner::step_of(const PartRecord& record, const LaunchRequest& request, std::size_t i,
                                     std::vector<std::string> command) {
    const StepId id = steps_of(record)[i];
    const std::string folder = p_.executor.folder(id);
    StepSpec step{.step_id = id,
                  .argv = std::move(command),
                  .account = p_.config.run_as_accounts ? record.account : AccountName{},
                  .shares = {profile_steps(record).at(record.machines[i])},
                  .walltime = record.request.walltime,
                  .grace = part::grace_of(p_.config, record.request.grace),
                  .is_launcher = !is_srun(request.launcher)};
    AllocatedTasks tasks{.machines = {record.machines[i]}};
    if (request.program) {
        tasks = {.machines = {}, .pmi = request.launcher == Launcher::kSrunPmix ? "pmix" : "pmi2", .folder = folder};
        tasks.may_share_processors = record.request.overcommit > 1;
        for (const RankPlace& place : record.status.assignment) tasks.machines.push_back(place.machine);
        step.directory = request.program->directory;
        step.environment = request.program->environment;
    }
    if (std::ranges::find(step.environment, "PATH", &std::pair<std::string, std::string>::first) ==
        step.environment.end())
        step.environment.emplace_back("PATH", "/usr/local/bin:/usr/bin:/bin");
    step.environment.emplace_back(kZoneVariable, p_.config.zone.name);
    step.environment.emplace_back("ZBS_APPLICATION", to_string(record.request.application));
    if (!is_srun(request.launcher)) step.environment.emplace_back(kRankEndsVariable, folder);
    if (request.launcher == Launcher::kOpenMpi) {
        // Machines without agent and Slurm are this host.
        const bool share_a_host =
            p_.allocations.in_use() ? p_.ledger.may_share_a_host(record.machines) : record.machines.size() > 1;
        for (auto& variable : open_mpi::daemon_environment(folder, share_a_host ? folder : ""))
            step.environment.push_back(std::move(variable));
    }
    if (request.preload && !p_.config.profiler.empty()) add_profiler(record, request, i, step);
    p_.staging.add_to(record, i, step);
    return p_.allocations.step_in(record.request.id, tasks, std::move(step));
}

void PartRunner::add_profiler(const PartRecord& record, const LaunchRequest& request, std::size_t i,
                              StepSpec& step) const {
    preload(p_.config.profiler, step.environment);
    if (!is_srun(request.launcher)) {
        step.environment.emplace_back(kRankPreloadVariable, p_.config.profiler);
        step.environment.emplace_back(kRankMachineVariable, p_.config.zone.name + "." + record.machines[i]);
    }
    step.environment.emplace_back("ZBS_PROFILE_OUT", p_.executor.folder(step.shares.front()) + "/" + model_file());
    if (!record.profile) step.environment.emplace_back("ZBS_PROFILE", "0");
}

void PartRunner::stop(const PartRecord& record, Duration grace) {
    for (const StepId& step : steps_of(record)) {
        // One that is not known may be late: its start was given up, or the zone died in it.
        if (p_.executor.status(step).state != StepStatus::State::kExited) p_.executor.stop(step, grace);
    }
}

part::Observation PartRunner::look(const PartRecord& record) {
    part::Observation seen{.is_allocated = p_.allocations.in_use()};
    const std::vector<StepId> steps = steps_of(record);
    for (const StepId& step : steps) seen.steps.push_back(p_.executor.status(step));
    const auto is_gone = [](const StepStatus& status) { return status.state != StepStatus::State::kRunning; };
    if (std::ranges::none_of(seen.steps, is_gone)) return seen;
    const auto records = rank_records(record);
    seen.not_begun = why_not_begun(records);
    seen.first_end = first_end(record, records);
    const bool is_late = record.verdict || std::ranges::any_of(seen.steps, [](const StepStatus& status) {
                             return status.reason.starts_with(kWalltimeReason);
                         });
    if (is_late) seen.ranks_at_walltime = ranks_at_walltime(p_.executor, steps, record.request.ranks.size());
    if (std::ranges::all_of(seen.steps, is_gone)) seen.has_profile = profile(record).has_value();
    return seen;
}

/// Name and beginning of each file in which the supervisor of a rank left how that ended.
std::vector<std::pair<std::string, std::string>> PartRunner::rank_records(const PartRecord& record) const {
    std::vector<std::pair<std::string, std::string>> records;
    for (const StepId& step : steps_of(record)) {
        for (const Executor::File& file : p_.executor.list(step, std::string(own_files::kEnd))) {
            if (Result<std::string> text = p_.executor.read(step, file.name, 0, kMaxRecordBytes))
                records.emplace_back(file.name, *std::move(text));
        }
    }
    return records;
}

std::optional<StepWork> PartRunner::work_of(const PartRecord& record) const {
    std::optional<StepWork> all;
    const std::vector<StepId> steps = steps_of(record);
    for (std::size_t i = 0; i < steps.size() && i < record.machines.size(); ++i) {
        if (!p_.config.agents.contains(record.machines[i])) continue;
        const std::optional<StepWork> one = p_.executor.status(steps[i]).work;
        if (one) all = all && *all != *one ? StepWork::kMixed : *one;
    }
    return all;
}

/// By machine, the step in whose folder all proxies of that machine leave their profiles.
std::map<MachineName, StepId> PartRunner::profile_steps(const PartRecord& record) const {
    std::map<MachineName, StepId> first;
    const std::vector<StepId> steps = steps_of(record);
    for (std::size_t i = 0; i < steps.size(); ++i)
        first.emplace(i < record.machines.size() ? record.machines[i] : MachineName{}, steps[i]);
    return first;
}

Result<ApplicationModel> PartRunner::profile(const PartRecord& record) const {
    const Error none{ErrorCode::kNotFound, "part " + to_string(record.request.id) + " left no profile", {}};
    if (!record.profile || record.proxies.empty()) return none;
    const std::map<MachineName, StepId> steps = profile_steps(record);
    for (const auto& [machine, step] : steps) {
        const Result<std::string> text = p_.executor.read(step, model_file(), 0, kMaxModelBytes);
        if (!text) continue;
        if (Result<ApplicationModel> model = p_.decode(*text))
            return model;  // the user's program could have written anything there
    }
    // The run was cut short: every rank's own file is still there.
    std::vector<std::string> files;
    for (const auto& [machine, step] : steps) {
        for (const Executor::File& file : p_.executor.list(step, model_file() + ".rank.")) {
            if (Result<std::string> bytes = p_.executor.read(step, file.name, 0, kMaxModelBytes))
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
