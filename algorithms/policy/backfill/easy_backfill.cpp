#include "algorithms/policy/backfill/easy_backfill.hpp"

#include <algorithm>

namespace zbs {

void EasyBackfill::start(const ZoneSnapshot& zone, JobHandle handle, Plan& plan) {
    plan.starts.push_back(zone.record(handle).job.id);
}

Shadow EasyBackfill::find_shadow(const ZoneSnapshot& zone, std::int32_t free, std::int32_t needed) {
    std::sort(just_started_.begin(), just_started_.end(), [](const Ending& a, const Ending& b) { return a.at < b.at; });
    auto started = just_started_.begin();
    Shadow shadow{};
    const auto release = [&](Time at, std::int32_t processors) {
        if (free >= needed && at > shadow.at) return false;
        shadow.at = at;
        free += processors;
        return true;
    };
    bool open = true;
    shadow.at = Time::min();
    for (std::size_t b = 0; open && b < zone.running.block_count(); ++b) {
        const RunningJobs::Block& block = zone.running.block(b);
        const Time last = block.entries().back().expected_end;
        if ((started == just_started_.end() || started->at > last) && free + block.summary().processors < needed) {
            free += static_cast<std::int32_t>(block.summary().processors);
            shadow.at = last;
            continue;
        }
        for (const RunningJob& job : block.entries()) {
            while (open && started != just_started_.end() && started->at <= job.expected_end) {
                open = release(started->at, started->processors);
                ++started;
            }
            if (!open || !(open = release(job.expected_end, job.processors))) break;
        }
    }
    for (; open && started != just_started_.end(); ++started) open = release(started->at, started->processors);
    if (free < needed) return {kNever, 0};
    shadow.extra_processors = free - needed;
    return shadow;
}

template <class Queue>
void EasyBackfill::backfill(const ZoneSnapshot& zone, const Queue& queue, std::int32_t free, const Shadow& shadow,
                            std::uint64_t head, Plan& plan) {
    const Duration room = shadow.at == kNever ? Duration::max() : shadow.at - zone.now;
    std::int32_t extra = shadow.extra_processors;
    for (std::size_t b = 0; b < queue.block_count() && free > 0; ++b) {
        const auto& block = queue.block(b);
        const auto& least = block.summary();
        if (least.least_processors > free || (least.least_walltime > room && least.least_processors > extra)) continue;
        for (const auto& job : block.entries()) {
            if (job.processors > free || job.arrival < head) continue;  // what arrived before the head has just started
            const bool ends_before_shadow = job.walltime <= room;
            if (!ends_before_shadow && job.processors > extra) continue;
            start(zone, job.handle, plan);
            free -= job.processors;
            if (!ends_before_shadow) extra -= job.processors;
        }
    }
}

void EasyBackfill::backfill_by_slowdown(const ZoneSnapshot& zone, std::int32_t free, const Shadow& shadow,
                                        std::uint64_t head, Plan& plan) {
    const Duration room = shadow.at == kNever ? Duration::max() : shadow.at - zone.now;
    candidates_.clear();
    zone.waiting.visit([&](const WaitingJob& job) {
        const bool fits = job.processors <= free && (job.walltime <= room || job.processors <= shadow.extra_processors);
        if (fits && job.arrival > head) candidates_.push_back(job);
        return true;
    });
    sort_jobs(zone, BackfillOrder::kSlowdown, candidates_);
    std::int32_t extra = shadow.extra_processors;
    for (const WaitingJob& job : candidates_) {
        if (job.processors > free) continue;
        const bool ends_before_shadow = job.walltime <= room;
        if (!ends_before_shadow && job.processors > extra) continue;
        start(zone, job.handle, plan);
        free -= job.processors;
        if (!ends_before_shadow) extra -= job.processors;
    }
}

EasyBackfill::Ranked EasyBackfill::ranked(const ZoneSnapshot& zone, const WaitingJob& job) const {
    const std::int64_t rank =
        order_ == BackfillOrder::kEstimate ? job.walltime.count() : -std::int64_t{zone.record(job.handle).job.priority};
    return {rank, job.arrival, job.walltime, job.processors, job.handle};
}

void EasyBackfill::follow(const ZoneSnapshot& zone) {
    if (age_.follows(zone)) {
        for (const ZoneChange& change : zone.changes) {
            if (change.kind == ZoneChange::Kind::kEnded) continue;
            const std::int64_t rank =
                order_ == BackfillOrder::kEstimate ? change.walltime.count() : -std::int64_t{change.priority};
            if (change.kind == ZoneChange::Kind::kSubmitted)
                by_rank_.insert({rank, change.arrival, change.walltime, change.processors, change.handle});
            else
                by_rank_.erase({rank, change.arrival});
        }
    } else {
        by_rank_.clear();
        zone.waiting.visit([&](const WaitingJob& job) {
            by_rank_.insert(ranked(zone, job));
            return true;
        });
    }
    age_.update(zone);
}

void EasyBackfill::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    const bool indexed = order_ == BackfillOrder::kEstimate || order_ == BackfillOrder::kPriority;
    if (indexed) follow(zone);

    std::int32_t free = zone.free_processors;
    just_started_.clear();
    const WaitingJob* head = nullptr;
    zone.waiting.visit([&](const WaitingJob& job) {
        if (job.processors > free) {
            head = &job;
            return false;
        }
        start(zone, job.handle, plan);
        just_started_.push_back({zone.now + job.walltime, job.processors});
        free -= job.processors;
        return true;
    });
    if (head == nullptr) return;
    const Shadow shadow = find_shadow(zone, free, head->processors);
    const JobRecord& record = zone.record(head->handle);
    if (record.reserved != shadow.at) plan.reservations.push_back({record.job.id, shadow.at});
    if (free == 0) return;
    switch (order_) {
        case BackfillOrder::kArrival:
            return backfill(zone, zone.waiting, free, shadow, head->arrival, plan);
        case BackfillOrder::kSlowdown:
            return backfill_by_slowdown(zone, free, shadow, head->arrival, plan);
        case BackfillOrder::kEstimate:
        case BackfillOrder::kPriority:
            return backfill(zone, by_rank_, free, shadow, head->arrival, plan);
    }
}

}  // namespace zbs
