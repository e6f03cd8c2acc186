#include "services/zone_scheduler/home/result_transfer.hpp"

#include <algorithm>
#include <utility>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/home/transfer_bounds.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

/// With what was stopped, often because a zone is gone, nobody waits long for that zone.
constexpr Duration kHasty = std::chrono::minutes{1};

Duration patience_with(const ApplicationStatus& status, Duration window) {
    return status.stop_reason.empty() ? window : std::min(window, kHasty);
}

}  // namespace

ResultTransfer::ResultTransfer(const ApplicationPorts& ports, const ZoneOffers& zones,
                               std::shared_ptr<ApplicationRun> run, ApplyInput apply)
    : ports_(ports),
      zones_(zones),
      run_(std::move(run)),
      apply_(std::move(apply)),
      patience_(patience_with(run_->app.status, ports.config.staging.window)),
      until_(ports.clock.steady_now() + patience_) {}

void ResultTransfer::begin() {
    if (ports_.files == nullptr) return apply_(run_, event::ResultsFetched{});
    const auto before = ports_.files->depot().list(results_shelf(run_->app.request.id));
    is_older_ = !before || !before->empty();
    ask_results();
}

/// Asked at every answer. A cancelled program may have saved its work in its grace.
bool ResultTransfer::takes_results() const {
    apply_(run_, event::OwnerChecked{});
    const ApplicationStatus& status = run_->app.status;
    return !ports_.is_blocked(run_->app.owner) &&
           (!status.cancel_requested || status.state == ApplicationState::kRunning);
}

void ResultTransfer::end(std::optional<StagedResults> results) {
    if (!results || failpoint::reach(failpoint::Point::kFetchResultsBrought))
        return apply_(run_, event::ResultsFetched{std::move(results), brought_, is_older_});
    auto again = std::make_shared<ResultTransfer>(ports_, zones_, run_, apply_);
    ports_.clock.after(kAskAgain, [again] { again->begin(); });
}

/// Whether a zone has left out, and counted, a file or folder that the pattern asks for.
bool ResultTransfer::is_named(const std::string& pattern) const {
    return std::ranges::any_of(results_.notes, [&](const std::string& note) {
        const std::string name = note.substr(0, note.find(": "));
        return matches_result(pattern, name) || may_match_in(pattern, name);
    });
}

/// NAME of the first of `files`, else NAME.ZONE, else NAME.ZONE.2 and so on: the first that no other result has.
std::string ResultTransfer::free_name(const ZoneName& zone) const {
    const std::string& name = files_.front().name;
    const auto is_name = [](const std::string& text) {
        return [&text](const ResultFile& file) { return file.name == text; };
    };
    const auto has_come = [&](const std::string& text) { return std::ranges::any_of(results_.files, is_name(text)); };
    if (!has_come(name)) return name;
    const std::string renamed = name + "." + zone;
    std::string candidate = renamed;
    for (int i = 2; has_come(candidate) || std::ranges::any_of(files_, is_name(candidate)); ++i)
        candidate = renamed + "." + std::to_string(i);
    return candidate;
}

/// All of the first of `files` is at home.
void ResultTransfer::take(const ZoneName& zone) {
    const ResultFile& file = files_.front();
    if (local_name_ != file.name)
        results_.add_note(file.name + " of zone " + zone + " is called " + local_name_ +
                          ", because another zone has left one, too");
    sum_ += file.size;
    results_.files.push_back({local_name_, file.digest, file.size, zone, file.executable});
    next();
}

/// The next file is to be begun.
void ResultTransfer::next() {
    files_.erase(files_.begin());
    local_name_.clear();
    offset_ = 0;
    setbacks_ = 0;
}

void ResultTransfer::ask_results() {
    if (is_final(run_->app.status.state)) return;
    if (!takes_results()) return end(std::nullopt);
    if (part_ >= run_->app.status.parts.size()) {
        for (const std::string& pattern : run_->app.request.staging.results)
            if (!matched_.contains(pattern) && !is_named(pattern))
                results_.leave_out("nothing came back for " + pattern);
        results_.complete = true;
        return end(std::move(results_));
    }
    const ApplicationPart& from = run_->app.status.parts[part_];
    if (!needs_files(ports_.config, run_->app.request, from)) {
        // What it wrote is in the working directory already.
        for (const std::string& pattern : run_->app.request.staging.results) matched_.insert(pattern);
        return next_zone();
    }
    ports_.transport.part_results(
        zones_.address_of(from.zone), from.id, [this, self = shared_from_this()](const Result<StagedResults>& answer) {
            const ZoneName& zone = run_->app.status.parts[part_].zone;
            const bool wait = answer ? !answer->complete : is_passing(answer.error());
            if (wait && ports_.clock.steady_now() < until_)
                return static_cast<void>(
                    ports_.clock.after(ports_.config.poll_every, [this, self = shared_from_this()] { ask_results(); }));
            if (!answer || wait) {
                results_.leave_out("zone " + zone + ": results did not come: " +
                                   (answer ? std::string("it was not ready in time") : answer.error().message));
                return next_zone();
            }
            list_arrived(zone, *answer);
        });
}

void ResultTransfer::list_arrived(const ZoneName& zone, const StagedResults& list) {
    for (const std::string& text : list.notes) results_.add_note(text);
    results_.left_out += list.left_out;
    files_ = list.files;
    left_ = !list.notes.empty();
    if (files_.size() > limits::kMaxResultFiles) {
        results_.left_out += files_.size() - limits::kMaxResultFiles - 1;
        files_.resize(limits::kMaxResultFiles);
        results_.leave_out("zone " + zone + " has more than " + std::to_string(limits::kMaxResultFiles) + " results");
        left_ = true;
    }
    std::uint64_t bytes = 0;
    for (const ResultFile& file : files_) bytes += std::min(file.size, ports_.config.staging.file_bytes);
    zone_until_ = ports_.clock.steady_now() + patience_ + longest_for(std::min(bytes, ports_.config.staging.job_bytes));
    bring_file();
}

void ResultTransfer::next_zone() {
    ++part_;
    files_.clear();
    local_name_.clear();
    left_ = false;
    until_ = ports_.clock.steady_now() + patience_;
    ask_results();
}

/// Begins or goes on with the first file of the list.
void ResultTransfer::bring_file() {
    if (is_final(run_->app.status.state)) return;
    if (!takes_results()) return end(std::nullopt);
    const ApplicationPart& from = run_->app.status.parts[part_];
    if (files_.empty()) {
        if (!left_) brought_.insert(from.id);  // once home has stored that, the zone need not keep them
        return next_zone();
    }
    if (ports_.clock.steady_now() >= zone_until_) {
        results_.left_out += files_.size() - 1;
        results_.leave_out("zone " + from.zone + " sends too slowly; " + std::to_string(files_.size()) +
                           " results stay there");
        return next_zone();
    }
    const ResultFile file = files_.front();
    const std::string shelf = results_shelf(run_->app.request.id);
    if (local_name_.empty()) {
        bool asked_for = false;
        for (const std::string& pattern : run_->app.request.staging.results) {
            if (!matches_result(pattern, file.name)) continue;
            asked_for = true;
            matched_.insert(pattern);
        }
        local_name_ = free_name(from.zone);
        const bool fits = file.size <= ports_.config.staging.file_bytes &&
                          sum_ + file.size <= ports_.config.staging.job_bytes && result_name_fault(local_name_).empty();
        if (!asked_for || !fits) {
            results_.leave_out(
                file.name + ": left in zone " + from.zone + ", because " +
                (asked_for ? "it is larger than home takes, or its name is too long" : "nobody asked for it"));
            left_ = true;
            next();
            return bring_file();
        }
        const Result<std::optional<FileDepot::File>> here = ports_.files->depot().find(shelf, file.digest);
        offset_ = here && *here ? (*here)->bytes : 0;
        if (here && *here && (*here)->complete) {  // brought before a restart, or left by another zone, too
            take(from.zone);
            return bring_file();
        }
    }
    ports_.transport.part_result(
        zones_.address_of(from.zone), from.id, file.name, std::min(offset_, file.size),
        [this, self = shared_from_this()](const Result<FileChunk>& piece) { take_piece(piece); });
}

void ResultTransfer::take_piece(const Result<FileChunk>& piece) {
    if (is_final(run_->app.status.state)) return;
    const ApplicationPart& from = run_->app.status.parts[part_];
    const ResultFile file = files_.front();
    const std::string shelf = results_shelf(run_->app.request.id);
    Result<FileDepot::File> here = piece ? FileDepot::File{} : Result<FileDepot::File>(piece.error());
    if (piece && piece->size != file.size)
        here = Error{ErrorCode::kRejected, "zone " + from.zone + " sent another file", {}};
    else if (piece && piece->bytes.size() < std::min<std::uint64_t>(kPiece, file.size - piece->offset))
        here = Error{ErrorCode::kRejected, "zone " + from.zone + " sends less than a piece at a time", {}};
    else if (piece)
        here = ports_.files->depot().append(
            shelf, file.digest,
            {.size = file.size, .offset = piece->offset, .bytes = piece->bytes, .digest = file.digest});
    if (!here && is_passing(here.error()) && ports_.clock.steady_now() < until_)
        return static_cast<void>(ports_.clock.after(kAskAgain, [this, self = shared_from_this()] { bring_file(); }));
    if (!here && here.error().code == ErrorCode::kConflict && ++setbacks_ < kMaxSetbacks) {
        const Result<std::optional<FileDepot::File>> left = ports_.files->depot().find(shelf, file.digest);
        offset_ = left && *left ? (*left)->bytes : 0;
        return bring_file();
    }
    if (!here) {
        static_cast<void>(ports_.files->depot().remove(shelf, file.digest));
        left_ = true;
        results_.leave_out(file.name + ": not brought home from zone " + from.zone + ": " + here.error().message);
        next();
        return bring_file();
    }
    until_ = ports_.clock.steady_now() + patience_;
    offset_ = here->bytes;
    if (here->complete) take(from.zone);
    bring_file();
}

}  // namespace zbs
