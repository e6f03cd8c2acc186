// PartService and files that a committed part gets before its launch.
#include <algorithm>
#include <set>

#include "services/common/failpoint/failpoint.hpp"
#include "services/zone_scheduler/launch/mpich.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {

void PartService::use_files(FileLibrary& files) {
    files_ = &files;
    files.add_user([this](const Caller& owner, const std::string& digest) {
        return std::any_of(parts_.begin(), parts_.end(), [&](const auto& item) {
            const PartRecord& record = item.second->record;
            const bool has_copies = record.status.state == PartState::kRunning && !runs_on_agents(record);
            return record.staging && record.request.user == owner && !has_copies &&
                   std::any_of(record.staging->inputs.begin(), record.staging->inputs.end(),
                               [&](const StagedFile& file) { return file.digest == digest; });
        });
    });
}

/// Other organisations receive a general refusal; the log has the reason.
Error PartService::refuse_files(const Caller& caller, const Error& error) const {
    const bool inside = error.code == ErrorCode::kRejected || error.code == ErrorCode::kTooLarge;
    if (caller.organisation == config_.organisation || !inside) return redact_for(caller, error);
    log_.warn("files_refused", {{"home", to_uri(caller)}, {"reason", error.message}});
    return {error.code, "zone " + config_.zone.name + " does not take the files of this part", {}};
}

Result<std::shared_ptr<PartService::ActivePart>> PartService::find_to_stage(const Caller& caller, const PartId& id,
                                                                            std::uint64_t token) {
    Result<std::shared_ptr<ActivePart>> found = find(caller, id);
    if (!found) return found;
    const ActivePart& part = **found;
    if (part.record.status.token != token) {
        peerings_.record(caller.organisation, TrustEvent::kFailedCheck);
        return Error{ErrorCode::kConflict, "the token does not match the hold of part " + to_string(id), "/token"};
    }
    if (is_blocked(part.record))
        return Error{ErrorCode::kDenied, "the user or the home of part " + to_string(id) + " was blocked", {}};
    if (auto ok = end_if_over(**found); !ok) return redact_for(caller, ok.error());
    if (part.record.status.state != PartState::kCommitted)
        return Error{ErrorCode::kConflict,
                     "part " + to_string(id) + " is " + to_string(part.record.status.state) + ", not committed",
                     {}};
    if (files_ == nullptr)
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no files of users", {}};
    return found;
}

/// Ranks run in a folder of each host: nodes of the site's scheduler have none of their own, so they must see the
/// zone's.
Result<void> PartService::check_nodes() const {
    if (!allocations_.in_use() || config_.staging.nodes_share_state) return {};
    return Error{ErrorCode::kRejected,
                 "whether the nodes of zone " + config_.zone.name +
                     " see its state folder is not known; where they do, its operator sets 'nodes_share_state' in "
                     "[staging]",
                 {}};
}

Result<void> PartService::check_staging(const Staging& staging) const {
    if (auto fits = files_->check_bounds(staging, "/staging"); !fits) return fits;
    return check_nodes();
}

/// Whether this zone would take the files of such an application. The error names the bound to other organisations, not
/// its value.
Result<void> PartService::check_need(const Caller& caller, const std::optional<StagingNeed>& need) const {
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
    return nodes || inside ? nodes : refuse_files(caller, nodes.error());
}

/// Home sends: the part is given back a launch window after it falls silent, and once the time for files is over.
void PartService::renew_window(ActivePart& part) {
    const Duration now = clock_.steady_now();
    const Duration begin = is_reserved(part.record) ? std::max(part.start, now) : now;
    if (!part.staging_since) part.staging_since = begin;
    if (now - *part.staging_since > config_.staging.window) return;
    part.deadline = std::max(part.deadline, latest_launch(part, begin + config_.launch_window));
    if (!is_queued(part.record)) promise_anew(part);
}

Result<StagingStatus> PartService::stage(const Caller& caller, const PartId& id, const StagingRequest& request) {
    const Result<std::shared_ptr<ActivePart>> found = find_to_stage(caller, id, request.token);
    if (!found) return refuse_files(caller, found.error());
    ActivePart& part = **found;
    if (part.record.staging && *part.record.staging != request.staging)
        return Error{ErrorCode::kConflict, "part " + to_string(id) + " was announced with other files before",
                     "/staging"};
    if (!part.record.staging) {
        if (auto good = check_staging(request.staging); !good) return refuse_files(caller, good.error());
        PartRecord changed = part.record;
        changed.staging = request.staging;
        if (auto ok = store_.save(changed); !ok) return redact_for(caller, ok.error());
        part.record = std::move(changed);
    }
    renew_window(part);
    StagingStatus status;
    for (const StagedFile& file : request.staging.inputs) {
        Result<FilePresence> here = files_->look(part.record.request.user, file.digest);
        if (!here) return redact_for(caller, here.error());
        files_->touch(part.record.request.user, file.digest);
        status.files.push_back(*std::move(here));
    }
    if (std::ranges::all_of(status.files, &FilePresence::complete)) {
        const Result<bool> brought = bring_inputs(part);
        if (!brought) return refuse_files(caller, brought.error());
        if (!*brought)
            return Error{ErrorCode::kUnavailable,
                         "the files of part " + to_string(id) + " are on their way to the machines of zone " +
                             config_.zone.name + "; ask again",
                         {}};
    }
    return status;
}

bool PartService::runs_on_agents(const PartRecord& record) const {
    return std::ranges::any_of(record.status.assignment,
                               [&](const RankPlace& place) { return config_.agents.contains(place.machine); });
}

std::vector<StepSpec::Input> PartService::inputs_of(const PartRecord& record) const {
    std::vector<StepSpec::Input> inputs;
    for (const StagedFile& file : record.staging->inputs)
        inputs.push_back({.name = file.name,
                          .path = files_->path(record.request.user, file.digest),
                          .executable = file.executable,
                          .digest = file.digest,
                          .size = file.size});
    return inputs;
}

/// Whether all machines of this part have its files. Which those are is not known of one that waits: it gets them when
/// it starts.
Result<bool> PartService::bring_inputs(ActivePart& part) {
    const PartRecord& record = part.record;
    std::set<MachineName> machines;
    for (const RankPlace& place : record.status.assignment)
        if (config_.agents.contains(place.machine)) machines.insert(place.machine);
    if (part.has_inputs || machines.empty() || record.staging->inputs.empty()) return true;
    bool all = true;
    for (const MachineName& machine : machines) {
        const Result<bool> here = executor_.stage_inputs({to_string(record.request.id), machine, inputs_of(record)});
        if (!here) return here.error();
        all = *here && all;
    }
    part.has_inputs = all;
    return all;
}

Result<FilePresence> PartService::put_file(const Caller& caller, const PartId& id, const std::string& digest,
                                           const FileChunk& chunk) {
    const Result<std::shared_ptr<ActivePart>> found = find_to_stage(caller, id, chunk.token);
    if (!found) return refuse_files(caller, found.error());
    ActivePart& part = **found;
    const std::vector<StagedFile>& announced =
        part.record.staging ? part.record.staging->inputs : std::vector<StagedFile>{};
    if (std::none_of(announced.begin(), announced.end(),
                     [&](const StagedFile& file) { return file.digest == digest && file.size == chunk.size; }))
        return invalid("part " + to_string(id) + " has no announced file with this checksum and size", "/size");
    renew_window(part);
    Result<FilePresence> file = files_->put(part.record.request.user, digest, chunk);
    if (!file) return refuse_files(caller, file.error());
    if (file->complete) {
        if (auto reached = failpoint::reach(failpoint::Point::kStageFileArrived); !reached)
            return redact_for(caller, reached.error());
    }
    return file;
}

Result<void> PartService::check_staged(const PartRecord& record) const {
    if (!record.staging || files_ == nullptr) return {};
    for (const StagedFile& file : record.staging->inputs) {
        const Result<FilePresence> here = files_->look(record.request.user, file.digest);
        if (!here) return here.error();
        if (!here->complete)
            return Error{ErrorCode::kConflict, "file " + file.name + " of this part has not come yet", {}};
    }
    return {};
}

/// By step, the one in whose folder its ranks run: the first of the same host.
std::vector<StepId> PartService::staged_steps(const PartRecord& record) const {
    const std::vector<StepId> steps = steps_of(record);
    std::map<MachineName, StepId> first;  // by machine with an agent; empty: this host
    std::vector<StepId> staged;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const MachineName machine = i < record.machines.size() ? record.machines[i] : MachineName{};
        const MachineName host = config_.agents.contains(machine) ? machine : MachineName{};
        staged.push_back(first.emplace(host, steps[i]).first->second);
    }
    return staged;
}

void PartService::add_staging(const PartRecord& record, std::size_t step, StepSpec& spec) const {
    if (!record.staging || files_ == nullptr) return;
    const StepId first = staged_steps(record).at(step);
    spec.environment.emplace_back(mpich::kStagedFolder, executor_.folder(first));
    spec.shares.push_back(first);
    if (first != spec.step_id) return;
    spec.inputs = inputs_of(record);
    spec.folder_bytes = config_.staging.job_bytes;
    for (const StepSpec::Input& input : spec.inputs) spec.folder_bytes += input.size;
}

/// Nobody needs the copies of a part that has ended once its results are laid aside.
void PartService::remove_inputs(const PartRecord& record) {
    if (!record.staging || record.staging->inputs.empty()) return;
    std::vector<std::string> names;
    for (const StagedFile& file : record.staging->inputs) names.push_back(file.name);
    const std::vector<StepId> staged = staged_steps(record);
    for (const StepId& step : std::set<StepId>(staged.begin(), staged.end())) {
        if (auto removed = executor_.remove_files(step, names); !removed)
            log_.warn("inputs_not_removed", {{"operation", step}, {"reason", removed.error().message}});
    }
}

}  // namespace zbs
