// PartService and files that come with a part, and that it leaves.
#include <algorithm>

#include "services/common/failpoint/failpoint.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {

void PartService::use_files(FileLibrary& files) {
    staging_.use(files);
    files.add_user([this](const Caller& owner, const std::string& digest) {
        return std::any_of(parts_.begin(), parts_.end(), [&](const auto& item) {
            const PartRecord& record = item.second->record;
            const bool has_copies = record.status.state == PartState::kRunning && !staging_.runs_on_agents(record);
            return record.staging && record.request.user == owner && !has_copies &&
                   std::any_of(record.staging->inputs.begin(), record.staging->inputs.end(),
                               [&](const StagedFile& file) { return file.digest == digest; });
        });
    });
}

Error PartService::refuse_files(const Caller& caller, const Error& error) const {
    return redact_for(caller, staging_.redact_for(caller, error));
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
    if (staging_.files() == nullptr)
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no files of users", {}};
    return found;
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
        if (auto good = staging_.check(request.staging); !good) return refuse_files(caller, good.error());
        PartRecord changed = part.record;
        changed.staging = request.staging;
        if (auto ok = store_.save(changed); !ok) return redact_for(caller, ok.error());
        part.record = std::move(changed);
    }
    renew_window(part);
    StagingStatus status;
    for (const StagedFile& file : request.staging.inputs) {
        Result<FilePresence> here = staging_.files()->look(part.record.request.user, file.digest);
        if (!here) return redact_for(caller, here.error());
        staging_.files()->touch(part.record.request.user, file.digest);
        status.files.push_back(*std::move(here));
    }
    if (!part.has_inputs && std::ranges::all_of(status.files, &FilePresence::complete)) {
        const Result<bool> brought = staging_.bring_inputs(part.record);
        if (!brought) return refuse_files(caller, brought.error());
        if (!*brought)
            return Error{ErrorCode::kUnavailable,
                         "the files of part " + to_string(id) + " are on their way to the machines of zone " +
                             config_.zone.name + "; ask again",
                         {}};
        part.has_inputs = staging_.runs_on_agents(part.record);
    }
    return status;
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
    Result<FilePresence> file = staging_.files()->put(part.record.request.user, digest, chunk);
    if (!file) return refuse_files(caller, file.error());
    if (file->complete) {
        if (auto reached = failpoint::reach(failpoint::Point::kStageFileArrived); !reached)
            return redact_for(caller, reached.error());
    }
    return file;
}

Result<StagedResults> PartService::results(const Caller& caller, const PartId& id) {
    const Result<std::shared_ptr<ActivePart>> found = find(caller, id);
    if (!found) return found.error();
    if (!is_final((*found)->record.status.state)) return StagedResults{};
    Result<StagedResults> results = results_.find((*found)->record);
    if (!results) return redact_for(caller, results.error());
    return results;
}

Result<FileChunk> PartService::result(const Caller& caller, const PartId& id, const std::string& name,
                                      std::uint64_t offset) {
    const Result<std::shared_ptr<ActivePart>> found = find(caller, id);
    if (!found) return found.error();
    Result<FileChunk> chunk = results_.read((*found)->record, name, offset);
    if (!chunk) return redact_for(caller, chunk.error());
    return chunk;
}

}  // namespace zbs
