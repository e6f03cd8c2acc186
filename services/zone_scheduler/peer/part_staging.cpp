#include "services/zone_scheduler/peer/part_staging.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "services/zone_scheduler/launch/mpich.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {

Error PartStaging::redact_for(const Caller& caller, const Error& error) const {
    const bool inside = error.code == ErrorCode::kRejected || error.code == ErrorCode::kTooLarge;
    if (caller.organisation == config_.organisation || !inside) return error;
    log_.warn("files_refused", {{"home", to_uri(caller)}, {"reason", error.message}});
    return {error.code, "zone " + config_.zone.name + " does not take the files of this part", {}};
}

/// Ranks run in a folder of each host: nodes of the site's scheduler have none of their own, so they must see the
/// zone's.
Result<void> PartStaging::check_nodes() const {
    if (!allocations_.in_use() || config_.staging.nodes_share_state) return {};
    return Error{ErrorCode::kRejected,
                 "whether the nodes of zone " + config_.zone.name +
                     " see its state folder is not known; where they do, its operator sets 'nodes_share_state' in "
                     "[staging]",
                 {}};
}

Result<void> PartStaging::check(const Staging& staging) const {
    if (auto fits = files_->check_bounds(staging, "/staging"); !fits) return fits;
    return check_nodes();
}

Result<void> PartStaging::check_need(const Caller& caller, const std::optional<StagingNeed>& need) const {
    const std::string& shared = config_.staging.shared_file_system;
    if (!need || (!need->file_system.empty() && need->file_system == shared)) return {};
    const bool inside = caller.organisation == config_.organisation;
    const auto too_large = [&](const std::string& what, std::uint64_t bound) {
        return Error{
            ErrorCode::kTooLarge,
            what + " larger than zone " + config_.zone.name + " takes" + (inside ? " (" + of_size(bound) + ")" : ""),
            "/staging"};
    };
    if (files_ == nullptr || config_.staging.job_bytes == 0)
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no files of users", "/staging"};
    if (need->largest > config_.staging.file_bytes) return too_large("one of its files is", config_.staging.file_bytes);
    if (need->bytes > config_.staging.job_bytes) return too_large("its files together are", config_.staging.job_bytes);
    const Result<void> nodes = check_nodes();
    return nodes || inside ? nodes : redact_for(caller, nodes.error());
}

bool PartStaging::runs_on_agents(const PartRecord& record) const {
    return std::ranges::any_of(record.status.assignment,
                               [&](const RankPlace& place) { return config_.agents.contains(place.machine); });
}

std::vector<StepSpec::Input> PartStaging::inputs_of(const PartRecord& record) const {
    std::vector<StepSpec::Input> inputs;
    for (const StagedFile& file : record.staging->inputs)
        inputs.push_back({.name = file.name,
                          .path = files_->path(record.request.user, file.digest),
                          .executable = file.executable,
                          .digest = file.digest,
                          .size = file.size});
    return inputs;
}

Result<bool> PartStaging::bring_inputs(const PartRecord& record) {
    std::set<MachineName> machines;
    for (const RankPlace& place : record.status.assignment)
        if (config_.agents.contains(place.machine)) machines.insert(place.machine);
    if (machines.empty() || record.staging->inputs.empty()) return true;
    bool all = true;
    for (const MachineName& machine : machines) {
        const Result<bool> here =
            machine_files_.stage_inputs({to_string(record.request.id), machine, inputs_of(record)});
        if (!here) return here.error();
        all = *here && all;
    }
    return all;
}

Result<void> PartStaging::check_staged(const PartRecord& record) const {
    if (!record.staging || files_ == nullptr) return {};
    for (const StagedFile& file : record.staging->inputs) {
        const Result<FilePresence> here = files_->look(record.request.user, file.digest);
        if (!here) return here.error();
        if (!here->complete)
            return Error{ErrorCode::kConflict, "file " + file.name + " of this part has not come yet", {}};
    }
    return {};
}

std::vector<StepId> PartStaging::staged_steps(const PartRecord& record) const {
    const std::vector<StepId> steps = step_ids(record.operation, record.proxies);
    std::map<MachineName, StepId> first;  // by machine with an agent; empty: this host
    std::vector<StepId> staged;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const MachineName machine = i < record.machines.size() ? record.machines[i] : MachineName{};
        const MachineName host = config_.agents.contains(machine) ? machine : MachineName{};
        staged.push_back(first.emplace(host, steps[i]).first->second);
    }
    return staged;
}

void PartStaging::add_to(const PartRecord& record, std::size_t step, StepSpec& spec) const {
    if (!record.staging || files_ == nullptr) return;
    const StepId first = staged_steps(record).at(step);
    spec.environment.emplace_back(mpich::kStagedFolder, step_files_.folder(first));
    spec.shares.push_back(first);
    if (first != spec.step_id) return;
    spec.inputs = inputs_of(record);
    spec.folder_bytes = config_.staging.job_bytes;
    for (const StepSpec::Input& input : spec.inputs) spec.folder_bytes += input.size;
}

void PartStaging::remove_inputs(const PartRecord& record) {
    if (!record.staging || record.staging->inputs.empty()) return;
    std::vector<std::string> names;
    for (const StagedFile& file : record.staging->inputs) names.push_back(file.name);
    const std::vector<StepId> staged = staged_steps(record);
    for (const StepId& step : std::set<StepId>(staged.begin(), staged.end())) {
        if (auto removed = step_files_.remove_files(step, names); !removed)
            log_.warn("inputs_not_removed", {{"operation", step}, {"reason", removed.error().message}});
    }
}

}  // namespace zbs
