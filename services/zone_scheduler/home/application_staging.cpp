// ApplicationService and files: sends a committed application's to its zones, and brings home what it left.
#include <algorithm>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/home/application_run.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr std::size_t kPiece = 512 * 1024;
constexpr Duration kAskAgain = std::chrono::milliseconds{500};
constexpr Duration kLongPause = std::chrono::seconds{1};
/// A zone that has its files receives a new stage request this often in a launch window, until the others have theirs.
constexpr int kAliveShare = 4;
/// A zone may throw away what came with a wrong checksum so often.
constexpr int kMaxSetbacks = 5;
/// With what was stopped, often because a zone is gone, nobody waits long for that zone.
constexpr Duration kHasty = std::chrono::minutes{1};
/// A zone that is slower than this is given up: it would keep the application open for ever.
constexpr std::uint64_t kMinBytesPerSecond = 64 * 1024;

Duration longest_for(std::uint64_t bytes) {
    return std::chrono::seconds{static_cast<std::int64_t>(bytes / kMinBytesPerSecond)};
}

bool is_denied(const Error& error) {
    return error.code == ErrorCode::kRejected || error.code == ErrorCode::kTooLarge ||
           error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kDenied;
}

}  // namespace

/// Files of one application on their way to its zones.
struct ApplicationService::InputUpload {
    std::shared_ptr<Run> run;
    Duration until{};      ///< steady time
    Duration all_until{};  ///< steady time at which even a slow zone has all
    std::set<std::size_t> done;
    std::size_t parts = 0;  ///< that get files
    std::map<std::size_t, int> setbacks;
    std::map<std::size_t, std::uint64_t> sent;  ///< bytes
    bool ended = false;
};

/// Results of one application on their way home, from one zone after the other.
struct ApplicationService::ResultTransfer {
    std::shared_ptr<Run> run;
    Duration patience{};  ///< with a silent zone
    std::size_t part = 0;
    Duration until{};               ///< steady time; each piece that comes moves it
    std::vector<ResultFile> files;  ///< of this part, still to come
    bool asked = false;
    int setbacks = 0;
    std::uint64_t offset = 0;
    std::uint64_t sum = 0;
    std::set<std::string> matched;  ///< patterns
    std::string local_name;         ///< of the first of `files`
    Duration zone_until{};          ///< steady time at which even a slow zone has sent them
    bool left = false;              ///< the zone keeps something that has not come
    StagedResults results;

    /// Whether a zone has left out, and counted, a file or folder that the pattern asks for.
    bool is_named(const std::string& pattern) const {
        return std::ranges::any_of(results.notes, [&](const std::string& note) {
            const std::string name = note.substr(0, note.find(": "));
            return matches_result(pattern, name) || may_match_in(pattern, name);
        });
    }
    /// NAME of the first of `files`, else NAME.ZONE, else NAME.ZONE.2 and so on: the first that no other result has.
    std::string free_name(const ZoneName& zone) const {
        const std::string& name = files.front().name;
        const auto is_name = [](const std::string& text) {
            return [&text](const ResultFile& file) { return file.name == text; };
        };
        const auto has_come = [&](const std::string& text) {
            return std::ranges::any_of(results.files, is_name(text));
        };
        if (!has_come(name)) return name;
        const std::string renamed = name + "." + zone;
        std::string candidate = renamed;
        for (int i = 2; has_come(candidate) || std::ranges::any_of(files, is_name(candidate)); ++i)
            candidate = renamed + "." + std::to_string(i);
        return candidate;
    }
    /// All of the first of `files` is at home.
    void take(const ZoneName& zone) {
        const ResultFile& file = files.front();
        if (local_name != file.name)
            results.add_note(file.name + " of zone " + zone + " is called " + local_name +
                             ", because another zone has left one, too");
        sum += file.size;
        results.files.push_back({local_name, file.digest, file.size, zone, file.executable});
        next();
    }
    /// The next file is to be begun.
    void next() {
        files.erase(files.begin());
        local_name.clear();
        offset = 0;
        setbacks = 0;
    }
};

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

bool ApplicationService::needs_files(const ApplicationRequest& request, const ApplicationPart& part) const {
    const std::string& shared = ports_.config.staging.shared_file_system;
    return !request.staging.empty() && (request.staging.always || shared.empty() || part.status.file_system != shared);
}

bool ApplicationService::is_staged(const std::shared_ptr<Run>& run) const {
    return std::all_of(run->app.status.parts.begin(), run->app.status.parts.end(), [&](const ApplicationPart& part) {
        return !needs_files(run->app.request, part) || run->staged.contains(part.id);
    });
}

/// Looked at whenever something comes: a phase with files can be long.
bool ApplicationService::is_unwanted(const std::shared_ptr<Run>& run) {
    static_cast<void>(cancel_if_blocked(run));
    return run->app.status.cancel_requested;
}

void ApplicationService::stage(const std::shared_ptr<Run>& run) {
    run->busy = true;
    const auto work = std::make_shared<InputUpload>();
    work->run = run;
    work->until = std::max(ports_.clock.steady_now(), run->app.status.start ? run->start : Duration{0}) +
                  ports_.config.staging.window;
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i)
        if (needs_files(run->app.request, run->app.status.parts[i])) parts.push_back(i);
    work->parts = parts.size();
    std::uint64_t bytes = 0;
    for (const StagedFile& file : run->app.request.staging.inputs) bytes += file.size;
    work->all_until = work->until + longest_for(bytes * parts.size());
    for (const std::size_t i : parts) stage_part(work, i);
}

/// Asks what the zone has, and sends what it has not; again and again until all zones have all.
void ApplicationService::stage_part(const std::shared_ptr<InputUpload>& work, std::size_t part) {
    if (work->ended) return;
    if (is_unwanted(work->run)) return end_staging(work);
    const ApplicationPart& to = work->run->app.status.parts[part];
    const StagingRequest request{to.status.token, work->run->app.request.staging};
    ports_.transport.stage_part(
        zones_.address_of(to.zone), to.id, request, [this, work, part](const Result<StagingStatus>& answer) {
            if (work->ended) return;
            if (is_unwanted(work->run)) return end_staging(work);
            if (!answer) return staging_failed(work, part, answer.error());
            for (std::size_t i = 0; i < answer->files.size(); ++i) {
                if (!answer->files[i].complete) return send_file(work, part, i, answer->files[i].have);
            }
            const ZoneName& zone = work->run->app.status.parts[part].zone;
            if (work->done.insert(part).second)
                record_answer(work->run, zone, "stage", true,
                              "has its files; " + std::to_string(work->sent[part]) + " bytes sent");
            if (work->done.size() == work->parts) return end_staging(work);
            const auto window = work->run->windows.find(work->run->app.status.parts[part].id);
            const Duration its = window == work->run->windows.end() ? kAskAgain * kAliveShare : window->second;
            ports_.clock.after(std::max(its / kAliveShare, kAskAgain), [this, work, part] { stage_part(work, part); });
        });
}

void ApplicationService::send_file(const std::shared_ptr<InputUpload>& work, std::size_t part, std::size_t file,
                                   std::uint64_t offset) {
    const Application& app = work->run->app;
    const StagedFile& staged = app.request.staging.inputs[file];
    // A zone that says it has all, but not that it is complete, is asked to look at its checksum once more.
    const std::uint64_t from = std::min(offset, staged.size > 0 ? staged.size - 1 : 0);
    Result<std::string> bytes = ports_.files->read(app.owner, staged.digest, from, kPiece);
    if (!bytes) {
        work->ended = true;
        work->run->busy = false;
        return plan_again(work->run, {}, "file " + staged.name + " is not at home any more: " + bytes.error().message);
    }
    const ApplicationPart& to = app.status.parts[part];
    const FileChunk chunk{to.status.token, staged.size, from, *std::move(bytes)};
    const std::uint64_t sent = chunk.bytes.size();
    ports_.transport.put_part_file(
        zones_.address_of(to.zone), to.id, staged.digest, chunk,
        [this, work, part, file, from, sent](const Result<FilePresence>& answer) {
            if (work->ended) return;
            if (is_unwanted(work->run)) return end_staging(work);
            if (!answer) return staging_failed(work, part, answer.error());
            work->sent[part] += sent;
            if (ports_.clock.steady_now() >= work->all_until)
                return staging_failed(work, part, {ErrorCode::kRejected, "it takes them too slowly", {}});
            if (!answer->complete && answer->have >= from + sent) return send_file(work, part, file, answer->have);
            if (!answer->complete)
                return staging_failed(work, part, {ErrorCode::kConflict, "it does not take what is sent", {}});
            stage_part(work, part);
        });
}

/// Silence, a gap and a wrong checksum are no end: what the zone has is asked anew.
void ApplicationService::staging_failed(const std::shared_ptr<InputUpload>& work, std::size_t part,
                                        const Error& error) {
    const bool may_pass =
        is_passing(error) || (error.code == ErrorCode::kConflict && ++work->setbacks[part] < kMaxSetbacks);
    if (may_pass && ports_.clock.steady_now() < work->until)
        return static_cast<void>(ports_.clock.after(kAskAgain, [this, work, part] { stage_part(work, part); }));
    const std::shared_ptr<Run> run = work->run;
    const ZoneName zone = run->app.status.parts[part].zone;  // the parts are gone with the plan
    work->ended = true;
    run->busy = false;
    run->was_denied |= is_denied(error);
    record_answer(run, zone, "stage", false, error.message);
    plan_again(run, zone, "its files could not be sent: " + error.message);
}

void ApplicationService::end_staging(const std::shared_ptr<InputUpload>& work) {
    const std::shared_ptr<Run> run = work->run;
    work->ended = true;
    run->busy = false;
    if (!run->app.status.cancel_requested)
        for (const ApplicationPart& part : run->app.status.parts) run->staged.insert(part.id);
    advance(run);
}

/// Whether results are brought home at all. A cancelled program may have saved its work in its grace.
bool ApplicationService::takes_results(const std::shared_ptr<Run>& run) {
    static_cast<void>(cancel_if_blocked(run));
    return !ports_.is_blocked(run->app.owner) &&
           (!run->app.status.cancel_requested || run->app.status.state == ApplicationState::kRunning);
}

/// After the end of the launcher.
void ApplicationService::bring_results(const std::shared_ptr<Run>& run) {
    const Staging& staging = run->app.request.staging;
    if (staging.results.empty() || run->results || ports_.files == nullptr || !takes_results(run)) return finish(run);
    const auto work = std::make_shared<ResultTransfer>();
    work->run = run;
    work->patience = run->app.status.stop_reason.empty() ? ports_.config.staging.window
                                                         : std::min(ports_.config.staging.window, kHasty);
    work->until = ports_.clock.steady_now() + work->patience;
    const auto begun = ports_.files->depot().list(results_shelf(run->app.request.id));
    run->end_unknown = !begun || !begun->empty();
    ask_results(work);
}

void ApplicationService::ask_results(const std::shared_ptr<ResultTransfer>& work) {
    const std::shared_ptr<Run> run = work->run;
    if (is_final(run->app.status.state)) return;
    if (!takes_results(run)) return finish(run);
    if (work->part >= run->app.status.parts.size()) {
        for (const std::string& pattern : run->app.request.staging.results)
            if (!work->matched.contains(pattern) && !work->is_named(pattern))
                work->results.leave_out("nothing came back for " + pattern);
        if (auto reached = failpoint::reach(failpoint::Point::kFetchResultsBrought); !reached)
            return static_cast<void>(ports_.clock.after(kLongPause, [this, run] {
                if (!is_final(run->app.status.state)) bring_results(run);
            }));
        work->results.complete = true;
        run->results = std::move(work->results);
        return finish(run);
    }
    const ApplicationPart& from = run->app.status.parts[work->part];
    if (!needs_files(run->app.request, from)) {
        // What it wrote is in the working directory already.
        for (const std::string& pattern : run->app.request.staging.results) work->matched.insert(pattern);
        return next_zone(work);
    }
    ports_.transport.part_results(
        zones_.address_of(from.zone), from.id, [this, work](const Result<StagedResults>& answer) {
            const ZoneName& zone = work->run->app.status.parts[work->part].zone;
            const bool wait = answer ? !answer->complete : is_passing(answer.error());
            if (wait && ports_.clock.steady_now() < work->until)
                return static_cast<void>(
                    ports_.clock.after(ports_.config.poll_every, [this, work] { ask_results(work); }));
            if (!answer || wait) {
                work->results.leave_out("zone " + zone + ": results did not come: " +
                                        (answer ? std::string("it was not ready in time") : answer.error().message));
                return next_zone(work);
            }
            for (const std::string& text : answer->notes) work->results.add_note(text);
            work->results.left_out += answer->left_out;
            work->files = answer->files;
            work->left = !answer->notes.empty();
            if (work->files.size() > limits::kMaxResultFiles) {
                work->results.left_out += work->files.size() - limits::kMaxResultFiles - 1;
                work->files.resize(limits::kMaxResultFiles);
                work->results.leave_out("zone " + zone + " has more than " + std::to_string(limits::kMaxResultFiles) +
                                        " results");
                work->left = true;
            }
            std::uint64_t bytes = 0;
            for (const ResultFile& file : work->files) bytes += std::min(file.size, ports_.config.staging.file_bytes);
            work->zone_until = ports_.clock.steady_now() + work->patience +
                               longest_for(std::min(bytes, ports_.config.staging.job_bytes));
            bring_file(work);
        });
}

void ApplicationService::next_zone(const std::shared_ptr<ResultTransfer>& work) {
    ++work->part;
    work->files.clear();
    work->local_name.clear();
    work->left = false;
    work->until = ports_.clock.steady_now() + work->patience;
    ask_results(work);
}

/// Begins or goes on with the first file of the list.
void ApplicationService::bring_file(const std::shared_ptr<ResultTransfer>& work) {
    const std::shared_ptr<Run> run = work->run;
    if (is_final(run->app.status.state)) return;
    if (!takes_results(run)) return finish(run);
    const ApplicationPart& from = run->app.status.parts[work->part];
    if (work->files.empty()) {
        if (!work->left) run->brought.insert(from.id);  // once home has stored that, the zone need not keep them
        return next_zone(work);
    }
    if (ports_.clock.steady_now() >= work->zone_until) {
        work->results.left_out += work->files.size() - 1;
        work->results.leave_out("zone " + from.zone + " sends too slowly; " + std::to_string(work->files.size()) +
                                " results stay there");
        return next_zone(work);
    }
    const ResultFile file = work->files.front();
    const std::string shelf = results_shelf(run->app.request.id);
    if (work->local_name.empty()) {
        bool asked_for = false;
        for (const std::string& pattern : run->app.request.staging.results) {
            if (!matches_result(pattern, file.name)) continue;
            asked_for = true;
            work->matched.insert(pattern);
        }
        work->local_name = work->free_name(from.zone);
        const bool fits = file.size <= ports_.config.staging.file_bytes &&
                          work->sum + file.size <= ports_.config.staging.job_bytes &&
                          result_name_fault(work->local_name).empty();
        if (!asked_for || !fits) {
            work->results.leave_out(
                file.name + ": left in zone " + from.zone + ", because " +
                (asked_for ? "it is larger than home takes, or its name is too long" : "nobody asked for it"));
            work->left = true;
            work->next();
            return bring_file(work);
        }
        const Result<std::optional<FileDepot::File>> here = ports_.files->depot().find(shelf, file.digest);
        work->offset = here && *here ? (*here)->bytes : 0;
        if (here && *here && (*here)->complete) {  // brought before a restart, or left by another zone, too
            work->take(from.zone);
            return bring_file(work);
        }
    }
    ports_.transport.part_result(zones_.address_of(from.zone), from.id, file.name, std::min(work->offset, file.size),
                                 [this, work](const Result<FileChunk>& piece) { take_piece(work, piece); });
}

void ApplicationService::take_piece(const std::shared_ptr<ResultTransfer>& work, const Result<FileChunk>& piece) {
    const std::shared_ptr<Run> run = work->run;
    if (is_final(run->app.status.state)) return;
    const ApplicationPart& from = run->app.status.parts[work->part];
    const ResultFile file = work->files.front();
    const std::string shelf = results_shelf(run->app.request.id);
    Result<FileDepot::File> here = piece ? FileDepot::File{} : Result<FileDepot::File>(piece.error());
    if (piece && piece->size != file.size)
        here = Error{ErrorCode::kRejected, "zone " + from.zone + " sent another file", {}};
    else if (piece && piece->bytes.size() < std::min<std::uint64_t>(kPiece, file.size - piece->offset))
        here = Error{ErrorCode::kRejected, "zone " + from.zone + " sends less than a piece at a time", {}};
    else if (piece)
        here = ports_.files->depot().append(
            shelf, file.digest,
            {.size = file.size, .offset = piece->offset, .bytes = piece->bytes, .digest = file.digest});
    if (!here && is_passing(here.error()) && ports_.clock.steady_now() < work->until)
        return static_cast<void>(ports_.clock.after(kAskAgain, [this, work] { bring_file(work); }));
    if (!here && here.error().code == ErrorCode::kConflict && ++work->setbacks < kMaxSetbacks) {
        const Result<std::optional<FileDepot::File>> left = ports_.files->depot().find(shelf, file.digest);
        work->offset = left && *left ? (*left)->bytes : 0;
        return bring_file(work);
    }
    if (!here) {
        static_cast<void>(ports_.files->depot().remove(shelf, file.digest));
        work->left = true;
        work->results.leave_out(file.name + ": not brought home from zone " + from.zone + ": " + here.error().message);
        work->next();
        return bring_file(work);
    }
    work->until = ports_.clock.steady_now() + work->patience;
    work->offset = here->bytes;
    if (here->complete) work->take(from.zone);
    bring_file(work);
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
