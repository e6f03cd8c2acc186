// ApplicationService and files: those that go with an application, and those that it leaves.
#include <algorithm>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/home/application_run.hpp"
#include "services/zone_scheduler/home/input_upload.hpp"
#include "services/zone_scheduler/home/result_transfer.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr Duration kLongPause = std::chrono::seconds{1};

}  // namespace

/// Files that an application waits with stay in the library.
void ApplicationService::claim_files() {
    ports_.files->add_user([this](const Caller& owner, const std::string& digest) {
        return std::any_of(runs_.begin(), runs_.end(), [&](const auto& item) {
            const Application& app = item.second->app;
            return app.owner == owner && app.status.state < ApplicationState::kRunning &&
                   std::any_of(app.request.staging.inputs.begin(), app.request.staging.inputs.end(),
                               [&](const StagedFile& file) { return file.digest == digest; });
        });
    });
}

Result<void> ApplicationService::check_staging(const Caller& caller, const Staging& staging) {
    if (staging.empty()) return {};
    if (ports_.files == nullptr)
        return Error{ErrorCode::kRejected, "zone " + ports_.config.zone.name + " takes no files of users", "/staging"};
    if (auto fits = ports_.files->check_bounds(staging, "/staging"); !fits) return fits;
    for (std::size_t i = 0; i < staging.inputs.size(); ++i) {
        const StagedFile& file = staging.inputs[i];
        const Result<FilePresence> here = ports_.files->look(caller, file.digest);
        if (!here) return here.error();
        const std::string at = "/staging/inputs/" + std::to_string(i);
        if (!here->complete)
            return Error{ErrorCode::kConflict,
                         "file " + file.name + " is not here; send it to /v1/files/" + file.digest + " first",
                         at + "/digest"};
        if (here->have != file.size)
            return invalid("file " + file.name + " has " + std::to_string(here->have) + " bytes", at + "/size");
        ports_.files->touch(caller, file.digest);
    }
    return {};
}

bool needs_files(const ZoneConfig& config, const ApplicationRequest& request, const ApplicationPart& part) {
    const std::string& shared = config.staging.shared_file_system;
    return !request.staging.empty() && (request.staging.always || shared.empty() || part.status.file_system != shared);
}

bool ApplicationService::is_staged(const std::shared_ptr<Run>& run) const {
    return std::all_of(run->app.status.parts.begin(), run->app.status.parts.end(), [&](const ApplicationPart& part) {
        return !needs_files(ports_.config, run->app.request, part) || run->staged.contains(part.id);
    });
}

/// Looked at whenever something comes: a phase with files can be long.
bool ApplicationService::is_unwanted(const std::shared_ptr<Run>& run) {
    static_cast<void>(cancel_if_blocked(run));
    return run->app.status.cancel_requested;
}

void ApplicationService::stage(const std::shared_ptr<Run>& run) {
    run->busy = true;
    const auto ended = [this, run](const std::optional<InputUpload::Failure>& failure) {
        run->busy = false;
        if (failure) {
            run->was_denied |= failure->is_denial;
            return plan_again(run, failure->zone, failure->reason);
        }
        if (!run->app.status.cancel_requested)
            for (const ApplicationPart& part : run->app.status.parts) run->staged.insert(part.id);
        advance(run);
    };
    std::make_shared<InputUpload>(ports_, zones_, run,
                                  InputUpload::Callbacks{[this, run] { return is_unwanted(run); }, ended})
        ->begin();
}

/// Whether results are brought home at all. A cancelled program may have saved its work in its grace.
bool ApplicationService::takes_results(const std::shared_ptr<Run>& run) {
    static_cast<void>(cancel_if_blocked(run));
    return !ports_.is_blocked(run->app.owner) &&
           (!run->app.status.cancel_requested || run->app.status.state == ApplicationState::kRunning);
}

/// After the end of the launcher.
void ApplicationService::bring_results(const std::shared_ptr<Run>& run) {
    if (run->app.request.staging.results.empty() || run->results || ports_.files == nullptr || !takes_results(run))
        return finish(run);
    const auto begun = ports_.files->depot().list(results_shelf(run->app.request.id));
    run->end_unknown = !begun || !begun->empty();
    const auto ended = [this, run](std::optional<StagedResults> results) {
        if (results && !failpoint::reach(failpoint::Point::kFetchResultsBrought))
            return static_cast<void>(ports_.clock.after(kLongPause, [this, run] {
                if (!is_final(run->app.status.state)) bring_results(run);
            }));
        run->results = std::move(results);
        finish(run);
    };
    std::make_shared<ResultTransfer>(ports_, zones_, run,
                                     ResultTransfer::Callbacks{[this, run] { return takes_results(run); }, ended})
        ->begin();
}

Result<StagedResults> ApplicationService::results(const Caller& caller, const ApplicationId& id) const {
    const Result<std::shared_ptr<const Application>> found = find(caller, id);
    if (!found) return found.error();
    StagedResults results = (*found)->status.results.value_or(StagedResults{});
    results.complete = is_final((*found)->status.state);
    return results;
}

Result<FileChunk> ApplicationService::result(const Caller& caller, const ApplicationId& id, const std::string& name,
                                             std::uint64_t offset) const {
    const Result<StagedResults> known = results(caller, id);
    if (!known) return known.error();
    for (const ResultFile& file : known->files) {
        if (file.name != name || ports_.files == nullptr) continue;
        if (offset > file.size) return invalid("is behind the end of the file", "offset");
        Result<std::string> bytes =
            ports_.files->depot().read(results_shelf(id), file.digest, offset, limits::kMaxFileChunkBytes);
        if (!bytes) return bytes.error();
        return FileChunk{.token = 0, .size = file.size, .offset = offset, .bytes = *std::move(bytes)};
    }
    return Error{ErrorCode::kNotFound, "application " + to_string(id) + " has no result of this name", {}};
}

}  // namespace zbs
