#include "services/zone_scheduler/peer/part_allocations.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

using Phase = AllocationView::Phase;

/// Between two looks at an allocation that is awaited, and at one that should go on.
constexpr Duration kCheckSoon = std::chrono::milliseconds{500};
constexpr Duration kCheckNowAndThen = std::chrono::seconds{10};
/// Between two tries, doubled up to the longest.
constexpr Duration kFirstPause = std::chrono::milliseconds{250};
constexpr Duration kLongestPause = std::chrono::seconds{30};

Duration longer(Duration pause) { return std::min(pause * 2, kLongestPause); }

bool is_over(const Error& error) { return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kConflict; }

}  // namespace

PartAllocations::Shared PartAllocations::find(const PartId& part) const {
    const auto at = entries_.find(part);
    return at == entries_.end() ? nullptr : at->second;
}

void PartAllocations::later(Duration pause, std::function<void()> again) { clock_.after(pause, std::move(again)); }

void PartAllocations::ask(const PartId& part, AllocationSpec spec, Allocations::Done done) {
    ZBS_EXPECTS(in_use());
    const auto entry = std::make_shared<Entry>(Entry{.key = {spec.operation, spec.account}});
    entries_[part] = entry;
    entry->start = spec.start;
    source_->hold(std::move(spec), [this, part, entry, done = std::move(done)](Result<void> held) {
        if (entry->stage == Stage::kEnding) return done(Error{ErrorCode::kConflict, "it was given back", {}});
        if (held) {
            entry->stage = entry->start ? Stage::kPromised : Stage::kHeld;
            check_again_later(*entry);
            return done({});
        }
        log_.info("allocation_refused", {{"part", to_string(part)}, {"reason", held.error().message}});
        release(part);
        done(held.error());
    });
}

void PartAllocations::adopt(const PartId& part, const AccountName& account, bool is_kept, Allocations::Done done) {
    if (!in_use()) return;
    const auto entry = std::make_shared<Entry>(
        Entry{.key = {to_string(part), account}, .to_keep = is_kept, .adopted = std::move(done)});
    entries_[part] = entry;
    look(part, entry);
}

void PartAllocations::keep(const PartId& part) {
    const Shared entry = find(part);
    if (entry == nullptr || std::exchange(entry->to_keep, true)) return;
    try_keep(part, entry);
}

void PartAllocations::try_keep(const PartId& part, const Shared& entry) {
    if (entry->is_kept || entry->is_asking || entry->stage == Stage::kEnding || entry->stage == Stage::kLost) return;
    entry->is_asking = true;
    source_->keep(entry->key, [this, part, entry](const Result<void>& kept) {
        entry->is_asking = false;
        if (entry->stage == Stage::kEnding) return;
        if (kept) {
            entry->is_kept = true;
        } else if (is_over(kept.error())) {
            look(part, entry);  // why
        } else {
            log_.warn("allocation_not_kept", {{"part", to_string(part)}, {"reason", kept.error().message}});
            entry->next_check = clock_.steady_now() + kCheckSoon;  // check_around tries again
        }
    });
}

void PartAllocations::look(const PartId& part, const Shared& entry) {
    if (entry->is_asking) return;
    entry->is_asking = true;
    source_->look(entry->key, [this, part, entry](const Result<AllocationView>& seen) {
        entry->is_asking = false;
        entry->next_check = clock_.steady_now() + kCheckSoon;
        if (entry->stage == Stage::kEnding) return;
        if (!seen)
            log_.warn("allocation_not_seen", {{"part", to_string(part)}, {"reason", seen.error().message}});
        else
            take_view(part, *entry, *seen);
    });
}

void PartAllocations::take_view(const PartId& part, Entry& entry, const AllocationView& seen) {
    if (seen.phase == Phase::kEnding) return;  // it will report why when it has ended
    Result<void> good;
    if (seen.phase == Phase::kHeld || seen.phase == Phase::kPromised) {
        entry.stage = seen.phase == Phase::kHeld ? Stage::kHeld : Stage::kPromised;
        check_again_later(entry);
    } else {
        entry.stage = Stage::kLost;
        entry.is_unknown = seen.phase == Phase::kUnknown;
        entry.why_lost = !seen.reason.empty()           ? seen.reason
                         : seen.phase == Phase::kQueued ? "it waits in the queue of the cluster's scheduler"
                                                        : "the cluster's scheduler knows nothing of it any more";
        log_.warn("allocation_lost", {{"part", to_string(part)}, {"reason", entry.why_lost}});
        good = Error{ErrorCode::kConflict, entry.why_lost, {}};
    }
    if (entry.adopted) std::exchange(entry.adopted, {})(good);
}

/// What waits for its start is looked at about then, what runs now and then.
void PartAllocations::check_again_later(Entry& entry) const {
    Duration pause = entry.to_keep && !entry.is_kept ? kCheckSoon : kCheckNowAndThen;
    if (entry.stage == Stage::kPromised) {
        const Duration left = entry.start ? *entry.start - clock_.now() : Duration{0};
        pause = std::clamp(left, kCheckSoon, kLongestPause);
    }
    entry.next_check = clock_.steady_now() + pause;
}

void PartAllocations::check_around() {
    for (const auto& [part, entry] : std::map<PartId, Shared>(entries_)) {
        if (entry->is_asking || clock_.steady_now() < entry->next_check) continue;
        const bool is_granted = entry->stage == Stage::kPromised || entry->stage == Stage::kHeld;
        if (is_granted && entry->to_keep && !entry->is_kept)
            try_keep(part, entry);
        else if (is_granted || entry->adopted)
            look(part, entry);
    }
}

void PartAllocations::release(const PartId& part) {
    const Shared entry = find(part);
    if (entry == nullptr) return;
    entry->stage = Stage::kEnding;
    entries_.erase(part);
    give_back(entry->key, kFirstPause, [] {});
}

void PartAllocations::judge(const PartId& part, std::function<void(const std::string& why)> done) {
    const Shared entry = find(part);
    if (entry == nullptr) return done({});
    // One that is not known (any more) says nothing: its processes do.
    if (entry->stage == Stage::kLost) return done(entry->is_unknown ? std::string{} : entry->why_lost);
    ask_why(entry, kFirstPause, std::move(done));
}

void PartAllocations::finish(const PartId& part, std::function<void()> done) {
    const Shared entry = find(part);
    if (entry == nullptr) return done();
    entry->stage = Stage::kEnding;
    entries_.erase(part);
    give_back(entry->key, kFirstPause,
              [this, key = entry->key, done = std::move(done)] { await_end(key, kFirstPause, done); });
}

/// Whether it had ended before anybody here gave it back.
void PartAllocations::ask_why(const Shared& entry, Duration pause, std::function<void(const std::string&)> done) {
    source_->look(entry->key, [this, entry, pause, done = std::move(done)](const Result<AllocationView>& seen) {
        if (seen && seen->phase != Phase::kEnding)
            return done(seen->phase == Phase::kEnded ? seen->reason : std::string{});
        later(pause, [this, entry, pause, done] { ask_why(entry, longer(pause), done); });
    });
}

void PartAllocations::give_back(const AllocationKey& key, Duration pause, std::function<void()> done) {
    source_->release(key, [this, key, pause, done = std::move(done)](const Result<void>& released) {
        if (released) return done();
        log_.warn("allocation_not_released", {{"operation", key.operation}, {"reason", released.error().message}});
        later(pause, [this, key, pause, done] { give_back(key, longer(pause), done); });
    });
}

void PartAllocations::await_end(const AllocationKey& key, Duration pause, std::function<void()> done) {
    source_->look(key, [this, key, pause, done = std::move(done)](const Result<AllocationView>& seen) {
        if (seen && (seen->phase == Phase::kEnded || seen->phase == Phase::kUnknown)) return done();
        later(pause, [this, key, pause, done] { await_end(key, std::min(longer(pause), kCheckNowAndThen), done); });
    });
}

bool PartAllocations::is_asked(const PartId& part) const {
    const Shared entry = find(part);
    return entry != nullptr && entry->stage == Stage::kAsked;
}

bool PartAllocations::is_held(const PartId& part) const {
    if (!in_use()) return true;
    const Shared entry = find(part);
    return entry != nullptr && entry->stage == Stage::kHeld;
}

std::optional<std::string> PartAllocations::lost(const PartId& part) const {
    const Shared entry = find(part);
    if (entry == nullptr || entry->stage != Stage::kLost) return std::nullopt;
    return entry->why_lost;
}

Result<StepSpec> PartAllocations::step_in(const PartId& part, const AllocatedTasks& tasks, StepSpec step) {
    const Shared entry = find(part);
    if (entry == nullptr) return step;
    return source_->step_in(entry->key, tasks, std::move(step));
}

}  // namespace zbs
