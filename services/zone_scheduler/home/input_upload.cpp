#include "services/zone_scheduler/home/input_upload.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "services/zone_scheduler/home/transfer_bounds.hpp"

namespace zbs {
namespace {

/// A zone that has its files receives a new stage request this often in a launch window, until the others have theirs.
constexpr int kAliveShare = 4;

bool is_denied(const Error& error) {
    return error.code == ErrorCode::kRejected || error.code == ErrorCode::kTooLarge ||
           error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kDenied;
}

}  // namespace

void InputUpload::begin() {
    const Application& app = run_->app;
    until_ = std::max(ports_.clock.steady_now(), app.status.start ? run_->start : Duration{0}) +
             ports_.config.staging.window;
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < app.status.parts.size(); ++i)
        if (needs_files(ports_.config, app.request, app.status.parts[i])) parts.push_back(i);
    parts_ = parts.size();
    std::uint64_t bytes = 0;
    for (const StagedFile& file : app.request.staging.inputs) bytes += file.size;
    all_until_ = until_ + longest_for(bytes * parts_);
    for (const std::size_t i : parts) stage_part(i);
}

/// Asks what the zone has, and sends what it has not; again and again until all zones have all.
void InputUpload::stage_part(std::size_t part) {
    if (ended_) return;
    if (is_unwanted()) return end({});
    const ApplicationPart& to = run_->app.status.parts[part];
    const StagingRequest request{to.status.token, run_->app.request.staging};
    ports_.transport.stage_part(
        zones_.address_of(to.zone), to.id, request,
        [this, self = shared_from_this(), part](const Result<StagingStatus>& answer) {
            if (ended_) return;
            if (is_unwanted()) return end({});
            if (!answer) return staging_failed(part, answer.error());
            for (std::size_t i = 0; i < answer->files.size(); ++i) {
                if (!answer->files[i].complete) return send_file(part, i, answer->files[i].have);
            }
            const ZoneName& zone = run_->app.status.parts[part].zone;
            if (done_.insert(part).second)
                record(zone, true, "has its files; " + std::to_string(sent_[part]) + " bytes sent");
            if (done_.size() == parts_) return end({});
            const auto window = run_->windows.find(run_->app.status.parts[part].id);
            const Duration its = window == run_->windows.end() ? kAskAgain * kAliveShare : window->second;
            ports_.clock.after(std::max(its / kAliveShare, kAskAgain),
                               [this, self = shared_from_this(), part] { stage_part(part); });
        });
}

void InputUpload::send_file(std::size_t part, std::size_t file, std::uint64_t offset) {
    const Application& app = run_->app;
    const StagedFile& staged = app.request.staging.inputs[file];
    // A zone that says it has all, but not that it is complete, is asked to look at its checksum once more.
    const std::uint64_t from = std::min(offset, staged.size > 0 ? staged.size - 1 : 0);
    Result<std::string> bytes = ports_.files->read(app.owner, staged.digest, from, kPiece);
    if (!bytes)
        return end({ZoneFailure{{}, "file " + staged.name + " is not at home any more: " + bytes.error().message}});
    const ApplicationPart& to = app.status.parts[part];
    const FileChunk chunk{to.status.token, staged.size, from, *std::move(bytes)};
    const std::uint64_t sent = chunk.bytes.size();
    ports_.transport.put_part_file(
        zones_.address_of(to.zone), to.id, staged.digest, chunk,
        [this, self = shared_from_this(), part, file, from, sent](const Result<FilePresence>& answer) {
            if (ended_) return;
            if (is_unwanted()) return end({});
            if (!answer) return staging_failed(part, answer.error());
            sent_[part] += sent;
            if (ports_.clock.steady_now() >= all_until_)
                return staging_failed(part, {ErrorCode::kRejected, "it takes them too slowly", {}});
            if (!answer->complete && answer->have >= from + sent) return send_file(part, file, answer->have);
            if (!answer->complete)
                return staging_failed(part, {ErrorCode::kConflict, "it does not take what is sent", {}});
            stage_part(part);
        });
}

/// Silence, a gap and a wrong checksum are no end: what the zone has is asked anew.
void InputUpload::staging_failed(std::size_t part, const Error& error) {
    const bool may_pass = is_passing(error) || (error.code == ErrorCode::kConflict && ++setbacks_[part] < kMaxSetbacks);
    if (may_pass && ports_.clock.steady_now() < until_)
        return static_cast<void>(
            ports_.clock.after(kAskAgain, [this, self = shared_from_this(), part] { stage_part(part); }));
    const ZoneName zone = run_->app.status.parts[part].zone;
    record(zone, false, error.message);
    end({ZoneFailure{zone, "its files could not be sent: " + error.message}, is_denied(error)});
}

/// A phase with files can be long: asked at every answer.
bool InputUpload::is_unwanted() const {
    apply_(run_, event::OwnerChecked{});
    return run_->app.status.cancel_requested;
}

void InputUpload::record(const ZoneName& zone, bool ok, const std::string& words) {
    apply_(run_, event::ZonesAnswered{"stage", {{zone, ok, words}}});
}

void InputUpload::end(const event::FilesSent& sent) {
    ended_ = true;
    apply_(run_, sent);
}

}  // namespace zbs
