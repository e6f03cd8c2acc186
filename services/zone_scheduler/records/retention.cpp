#include "services/zone_scheduler/records/retention.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {

void Retention::start() {
    remove_orphans();
    clock_.after(kBusy, [this] { look(); });
}

void Retention::look() {
    const bool more = clock_is_believable() && remove_some();
    if (!more && removed_ > 0) log_.info("results_removed", {{"count", std::to_string(std::exchange(removed_, 0))}});
    clock_.after(more ? kBusy : kIdle, [this] { look(); });
}

bool Retention::clock_is_believable() {
    const Duration ahead = clock_.now().time_since_epoch() - clock_.steady_now();
    if (!wall_ahead_ && !compare_with_last_life(ahead)) return false;
    const Duration jump = std::chrono::abs(ahead - *wall_ahead_);
    wall_ahead_ = ahead;
    if (jump > kBelievableJump) distrust(jump, "the last look");
    if (clock_.steady_now() < distrusted_until_) return false;
    if (clock_.steady_now() >= note_at_) {
        note_at_ = clock_.steady_now() + kNoteEvery;
        if (auto noted = clock_store_.record_believed_time(clock_.now()); !noted)
            log_.warn("store_failed", {{"reason", noted.error().message}});
    }
    return true;
}

/// The first check after a start has no other to be compared with but the time that was last believed: a clock that was
/// put a year ahead while the zone was off, and a zone that was off for a year, look the same. Where nothing was ever
/// recorded, a day goes by, too. False where the store does not answer: asked again at the next check.
bool Retention::compare_with_last_life(Duration ahead) {
    const Result<std::optional<Time>> believed = clock_store_.believed_time();
    if (!believed) {
        log_.warn("retention_failed", {{"reason", believed.error().message}});
        return false;
    }
    if (!*believed) {
        if (auto noted = clock_store_.record_believed_time(clock_.now()); !noted) return false;
        distrusted_until_ = clock_.steady_now() + kDistrust;
    } else {
        const Duration off = clock_.now() - **believed;
        if (off > kBelievablePause || -off > kBelievableJump) distrust(off, "this zone last believed it");
    }
    wall_ahead_ = ahead;
    return true;
}

void Retention::distrust(Duration off, const char* since) {
    distrusted_until_ = clock_.steady_now() + kDistrust;
    log_.warn("clock_jumped", {{"seconds", std::to_string(to_seconds(off))},
                               {"since", since},
                               {"what_now", "results are not removed for a day; check this host's clock"}});
}

/// Files first: a record without them can be removed later, files without a record would never be. True where there is
/// more to do.
bool Retention::remove_some() {
    const Time limit = clock_.now() - config_.results_kept;
    std::size_t budget = kFilesPerCheck;
    const auto fault = [this](const Error& error) {
        log_.warn("retention_failed", {{"reason", error.message}});
        return false;
    };
    const Result<std::vector<EndedApplication>> applications =
        applications_.ended_applications(limit, kRecordsPerCheck);
    if (!applications) return fault(applications.error());
    for (const EndedApplication& application : *applications) {
        std::vector<StepId> steps;
        if (!application.launcher_step.empty()) steps.push_back(application.launcher_step);
        if (!remove_files(steps, budget)) return true;
        remove_shelf(results_shelf(application.id));
        if (auto removed = applications_.remove(application.id); !removed) return fault(removed.error());
        ++removed_;
    }
    const Result<std::vector<EndedPart>> parts = parts_.ended_parts(limit, kRecordsPerCheck);
    if (!parts) return fault(parts.error());
    for (const EndedPart& part : *parts) {
        if (!remove_files(step_ids(part.operation, part.proxies), budget)) return true;
        remove_shelf(results_shelf(part.id));
        if (auto removed = parts_.remove(part.id); !removed) return fault(removed.error());
        ++removed_;
    }
    const bool more = applications->size() == kRecordsPerCheck || parts->size() == kRecordsPerCheck;
    if (!more && files_ != nullptr) {
        if (auto removed = files_->remove_unused_since(limit); !removed) static_cast<void>(fault(removed.error()));
    }
    return more;
}

/// False where the budget was used up before they were gone. A folder that cannot be removed is reported and left: it
/// must not keep all younger ones.
bool Retention::remove_files(const std::vector<StepId>& steps, std::size_t& budget) {
    for (const StepId& step : steps) {
        const Result<StepFiles::Removal> removal = step_files_.remove(step, budget);
        if (!removal) {
            log_.warn("results_not_removed", {{"operation", step}, {"reason", removal.error().message}});
            continue;
        }
        budget -= std::min(budget, removal->files);
        if (!removal->complete) return false;
    }
    return true;
}

/// As of folders: what cannot be removed keeps nothing else. The next start finds it as an orphan.
void Retention::remove_shelf(const std::string& shelf) {
    if (files_ == nullptr) return;
    if (auto removed = files_->depot().remove_shelf(shelf); !removed)
        log_.warn("results_not_removed", {{"shelf", shelf}, {"reason", removed.error().message}});
}

/// Results whose record is gone: of a removal that was cut short, or of a database that was restored.
void Retention::remove_orphans() {
    if (files_ == nullptr) return;
    // A store that knows no time is new: results beside it are of one that was moved away, and may come back with it.
    const Result<std::optional<Time>> believed = clock_store_.believed_time();
    if (!believed || !*believed) return;
    const Result<std::vector<std::string>> shelves = files_->depot().shelves();
    if (!shelves) return log_.warn("retention_failed", {{"reason", shelves.error().message}});
    for (const std::string& shelf : *shelves) {
        if (has_record(shelf)) continue;
        log_.info("orphan_removed", {{"shelf", shelf}});
        remove_shelf(shelf);
    }
}

/// Whether whom these results belong to is on record; true for other shelves, and where nobody can say.
bool Retention::has_record(const std::string& shelf) const {
    const std::size_t plus = shelf.find('+');
    const std::optional<Id128> id = parse_id128(shelf.substr(plus == std::string::npos ? shelf.size() : plus + 1));
    if (!id) return true;
    if (shelf == results_shelf(PartId{*id})) {
        const auto part = parts_.find_part(PartId{*id});
        return !part || part->has_value();
    }
    if (shelf != results_shelf(ApplicationId{*id})) return true;
    const auto application = applications_.find_application(ApplicationId{*id});
    return !application || application->has_value();
}

}  // namespace zbs
