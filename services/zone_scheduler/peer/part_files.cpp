// PartService and files that come with a part, and that it leaves.
#include <algorithm>

#include "services/common/failpoint/failpoint.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {

Error PartService::refuse_files(const Caller& caller, const Error& error) const {
    return redact_for(caller, staging_.redact_for(caller, error));
}

Result<PartService::Shared> PartService::find_to_stage(const Caller& caller, const PartId& id, std::uint64_t token) {
    Result<Shared> found = find_to_change(caller, id, token);
    if (!found) return found;
    if (!std::holds_alternative<part::Committed>((*found)->phase))
        return Error{ErrorCode::kConflict,
                     "part " + to_string(id) + " is " + to_string((*found)->record.status.state) + ", not committed",
                     {}};
    if (staging_.files() == nullptr)
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no files of users", {}};
    return found;
}

Result<StagingStatus> PartService::stage(const Caller& caller, const PartId& id, const StagingRequest& request) {
    const Result<Shared> found = find_to_stage(caller, id, request.token);
    if (!found) return refuse_files(caller, found.error());
    const Shared& part = *found;
    if (!part->record.staging) {
        if (auto good = staging_.check(request.staging); !good) return refuse_files(caller, good.error());
    }
    if (auto ok = apply(part, part::FilesAnnounced{request.staging}); !ok) return redact_for(caller, ok.error());
    if (auto ok = apply(part, part::FilesMoved{table_.latest_launch(*part)}); !ok) return ok.error();
    StagingStatus status;
    for (const StagedFile& file : request.staging.inputs) {
        Result<FilePresence> here = staging_.files()->look(part->record.request.user, file.digest);
        if (!here) return redact_for(caller, here.error());
        staging_.files()->touch(part->record.request.user, file.digest);
        status.files.push_back(*std::move(here));
    }
    const bool has_inputs = std::get<part::Committed>(part->phase).has_inputs;
    if (!has_inputs && std::ranges::all_of(status.files, &FilePresence::complete)) {
        const Result<bool> brought = staging_.bring_inputs(part->record);
        if (!brought) return refuse_files(caller, brought.error());
        if (!*brought)
            return Error{ErrorCode::kUnavailable,
                         "the files of part " + to_string(id) + " are on their way to the machines of zone " +
                             config_.zone.name + "; ask again",
                         {}};
        if (staging_.runs_on_agents(part->record)) try_apply(part, part::InputsBrought{});
    }
    return status;
}

Result<FilePresence> PartService::put_file(const Caller& caller, const PartId& id, const std::string& digest,
                                           const FileChunk& chunk) {
    const Result<Shared> found = find_to_stage(caller, id, chunk.token);
    if (!found) return refuse_files(caller, found.error());
    const Shared& part = *found;
    const std::vector<StagedFile>& announced =
        part->record.staging ? part->record.staging->inputs : std::vector<StagedFile>{};
    if (std::ranges::none_of(announced,
                             [&](const StagedFile& file) { return file.digest == digest && file.size == chunk.size; }))
        return invalid("part " + to_string(id) + " has no announced file with this checksum and size", "/size");
    if (auto ok = apply(part, part::FilesMoved{table_.latest_launch(*part)}); !ok) return ok.error();
    Result<FilePresence> file = staging_.files()->put(part->record.request.user, digest, chunk);
    if (!file) return refuse_files(caller, file.error());
    if (file->complete) {
        if (auto reached = failpoint::reach(failpoint::Point::kStageFileArrived); !reached)
            return redact_for(caller, reached.error());
    }
    return file;
}

Result<StagedResults> PartService::results(const Caller& caller, const PartId& id) {
    const Result<Shared> found = find(caller, id);
    if (!found) return found.error();
    if (!is_final((*found)->record.status.state)) return StagedResults{};
    Result<StagedResults> results = results_.find((*found)->record);
    if (!results) return redact_for(caller, results.error());
    return results;
}

Result<FileChunk> PartService::result(const Caller& caller, const PartId& id, const std::string& name,
                                      std::uint64_t offset) {
    const Result<Shared> found = find(caller, id);
    if (!found) return found.error();
    Result<FileChunk> chunk = results_.read((*found)->record, name, offset);
    if (!chunk) return redact_for(caller, chunk.error());
    return chunk;
}

}  // namespace zbs
