#include "algorithms/policy/backfill/conservative.hpp"

#include <algorithm>
#include <unordered_set>

namespace zbs {
namespace {

/// A promise that was made anew after a fault may have been improved since.
void keep_last_of_each(std::vector<Reservation>& reservations) {
    std::unordered_set<JobId> seen;
    std::size_t kept = reservations.size();
    for (std::size_t i = reservations.size(); i-- > 0;)
        if (seen.insert(reservations[i].id).second) reservations[--kept] = reservations[i];
    reservations.erase(reservations.begin(), reservations.begin() + static_cast<std::ptrdiff_t>(kept));
}

}  // namespace

void Conservative::rebuild(const ZoneSnapshot& zone, Plan& plan) {
    promised_.clear();
    due_.clear();
    profile_.reset(zone.now, zone.processors);
    next_order_ = 0;
    next_arrival_ = 0;
    given_back_until_ = kNever;
    zone.running.visit([&](const RunningJob& job) {
        profile_.add(zone.now, job.expected_end, -job.processors);
        return true;
    });
    bool kept = true;
    std::vector<WaitingJob> without_promise;
    zone.waiting.visit([&](const WaitingJob& job) {
        const JobRecord& record = zone.record(job.handle);
        if (record.reserved == kNever) {
            without_promise.push_back(job);
            return true;
        }
        // A promise that could not be kept is made again, together with those that no longer fit beside it.
        const Time begin = std::max(record.reserved, zone.now);
        kept = kept && profile_.fits(begin, job.walltime, job.processors);
        profile_.add(begin, begin + job.walltime, -job.processors);
        promised_.insert({job.arrival, job.walltime, begin, record.reservation_order, job.processors, job.handle});
        due_.insert({begin, record.reservation_order, job.handle});
        next_order_ = std::max(next_order_, record.reservation_order + 1);
        next_arrival_ = job.arrival + 1;
        return true;
    });
    if (!kept) promise_again(zone, plan);
    // Jobs that wait for processors to come back, between others that have a promise. Later ones count as new.
    for (const WaitingJob& job : without_promise)
        if (job.arrival < next_arrival_) promise(zone, job, plan);
}

void Conservative::promise_again(const ZoneSnapshot& zone, Plan& plan) {
    // Processors left the zone or a job overran: what was promised first keeps its place as far as it can.
    const SortedBlocks<Due, NoSummary> old = due_;
    promised_.clear();
    due_.clear();
    profile_.reset(zone.now, zone.processors);
    zone.running.visit([&](const RunningJob& job) {
        profile_.add(zone.now, job.expected_end, -job.processors);
        return true;
    });
    old.visit([&](const Due& due) {
        const JobRecord& record = zone.record(due.handle);
        const Time start = profile_.earliest_start(
            {.from = due.reserved, .duration = record.walltime_left, .processors = record.job.processors});
        if (start != kNever) profile_.add(start, start + record.walltime_left, -record.job.processors);
        const std::uint64_t order = start == due.reserved ? due.order : next_order_++;
        promised_.insert({record.arrival, record.walltime_left, start, order, record.job.processors, due.handle});
        due_.insert({start, order, due.handle});
        if (start != record.reserved) plan.reservations.push_back({record.job.id, start});
        return true;
    });
}

void Conservative::follow(const ZoneSnapshot& zone) {
    profile_.forget_before(zone.now);
    for (const ZoneChange& change : zone.changes) {
        switch (change.kind) {
            case ZoneChange::Kind::kSubmitted:
                break;
            case ZoneChange::Kind::kStarted: {
                // As a rule at the promised start: the profile shows it already. A driver may have started it by hand.
                if (const Promised* job = promised_.find(change.arrival)) {
                    due_.erase({job->reserved, job->order});
                    if (job->reserved != change.expected_end - change.walltime) {
                        if (job->reserved != kNever)
                            profile_.add(job->reserved, job->reserved + job->walltime, job->processors);
                        profile_.add(zone.now, change.expected_end, -change.processors);
                        given_back_until_ = kNever;
                    }
                    promised_.erase(change.arrival);
                } else {
                    profile_.add(zone.now, change.expected_end, -change.processors);
                }
                break;
            }
            case ZoneChange::Kind::kEnded:
                if (change.expected_end > zone.now) {
                    profile_.add(zone.now, change.expected_end, change.processors);
                    given_back_until_ = std::max(given_back_until_, change.expected_end);
                }
                break;
            case ZoneChange::Kind::kWithdrawn: {
                const Promised* job = promised_.find(change.arrival);
                if (job == nullptr) break;
                if (job->reserved != kNever) {
                    profile_.add(job->reserved, job->reserved + job->walltime, job->processors);
                    given_back_until_ = std::max(given_back_until_, job->reserved + job->walltime);
                }
                due_.erase({job->reserved, job->order});
                promised_.erase(change.arrival);
                break;
            }
        }
    }
}

/// The most processors free during [now, t), for t up to `until`, as steps.
void Conservative::find_stairs(Time now, Time until) {
    stairs_.clear();
    profile_.visit_maxima(now, until, [this](Time at, std::int32_t most) { stairs_.push_back({at, most}); });
}

std::int32_t Conservative::most_free_before(Time at) const {
    std::int32_t most = std::numeric_limits<std::int32_t>::min();
    for (const Stair& stair : stairs_) {
        if (stair.from >= at) break;
        most = stair.most_free;
    }
    return most;
}

void Conservative::compress(const ZoneSnapshot& zone, Plan& plan) {
    const Time now = zone.now;
    if (given_back_until_ <= now || promised_.empty()) {
        given_back_until_ = now;
        return;
    }
    Time until = given_back_until_;
    Time moved_until = now;
    find_stairs(now, until);
    bool stairs_hold = true;
    for (std::size_t b = 0; b < promised_.block_count(); ++b) {
        if (stairs_hold && promised_.block(b).summary().least_processors > stairs_.back().most_free) continue;
        for (Promised& job : promised_.entries_to_change(b)) {
            if (job.reserved <= now) continue;  // counts as started
            if (!stairs_hold) find_stairs(now, until);
            stairs_hold = true;
            const Time before = std::min(job.reserved, until);
            if (most_free_before(before) < job.processors) continue;
            const Time start = profile_.earliest_start({.from = now,
                                                        .duration = job.walltime,
                                                        .processors = job.processors,
                                                        .before = before,
                                                        .open_from = job.reserved});
            if (start == kNever) continue;
            const Time old_end = job.reserved == kNever ? kNever : job.reserved + job.walltime;
            if (job.reserved != kNever) profile_.add(job.reserved, old_end, job.processors);
            profile_.add(start, start + job.walltime, -job.processors);
            due_.erase({job.reserved, job.order});
            job.reserved = start;
            job.order = next_order_++;
            due_.insert({start, job.order, job.handle});
            plan.reservations.push_back({zone.record(job.handle).job.id, start});
            moved_until = std::max(moved_until, old_end);
            until = std::max(until, old_end);
            stairs_hold = false;
        }
    }
    given_back_until_ = moved_until;
}

void Conservative::promise(const ZoneSnapshot& zone, const WaitingJob& job, Plan& plan) {
    const Time start =
        profile_.earliest_start({.from = zone.now, .duration = job.walltime, .processors = job.processors});
    if (start != kNever) profile_.add(start, start + job.walltime, -job.processors);
    promised_.insert({job.arrival, job.walltime, start, next_order_, job.processors, job.handle});
    due_.insert({start, next_order_, job.handle});
    ++next_order_;
    const JobRecord& record = zone.record(job.handle);
    if (record.reserved != start) plan.reservations.push_back({record.job.id, start});
}

void Conservative::start_due(const ZoneSnapshot& zone, Plan& plan) {
    std::int32_t free = zone.free_processors;
    const std::size_t first = plan.starts.size();
    due_.visit([&](const Due& due) {
        if (due.reserved > zone.now) return false;
        const Job& job = zone.record(due.handle).job;
        if (job.processors > free) return false;
        free -= job.processors;
        plan.starts.push_back(job.id);
        return true;
    });
    if (plan.reservations.empty()) return;
    for (std::size_t i = first; i < plan.starts.size(); ++i)
        std::erase_if(plan.reservations,
                      [&](const Reservation& reservation) { return reservation.id == plan.starts[i]; });
}

void Conservative::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    bool made_anew = !age_.follows(zone);
    if (!made_anew) {
        follow(zone);
        // A job that should have started before, but did not, runs until later than the profile shows.
        made_anew = !due_.empty() && due_.front().reserved < zone.now;
    }
    if (made_anew) rebuild(zone, plan);
    const bool something_ended = std::ranges::any_of(zone.changes, [](const ZoneChange& change) {
        return change.kind == ZoneChange::Kind::kEnded || change.kind == ZoneChange::Kind::kWithdrawn;
    });
    if (something_ended) compress(zone, plan);
    if (!zone.waiting.empty() && zone.waiting.back().arrival >= next_arrival_) {
        zone.waiting.visit_from(next_arrival_, [&](const WaitingJob& job) {
            promise(zone, job, plan);
            return true;
        });
        next_arrival_ = zone.waiting.back().arrival + 1;
    }
    age_.update(zone);
    if (made_anew) keep_last_of_each(plan.reservations);

    std::size_t due_now = 0;
    if (zone.instant_complete) {
        start_due(zone, plan);
        due_now = plan.starts.size();
    }
    due_.visit([&](const Due& due) {
        if (due_now > 0) return --due_now, true;
        plan.wake_at = due.reserved;
        return false;
    });
    if (plan.wake_at <= zone.now) plan.wake_at = zone.instant_complete ? zone.now + std::chrono::seconds{1} : zone.now;
}

}  // namespace zbs
