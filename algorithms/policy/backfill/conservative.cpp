#include "algorithms/policy/backfill/conservative.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "algorithms/policy/backfill/start_bounds.hpp"

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
        add_promise({job.arrival, job.walltime, begin, record.reservation_order, job.processors, job.handle});
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
    std::vector<Promised> old;
    promised_.visit([&](const Promised& job) {
        old.push_back(job);
        return true;
    });
    std::ranges::sort(old, {}, [](const Promised& job) { return std::pair(job.reserved, job.order); });
    promised_.clear();
    due_.clear();
    profile_.reset(zone.now, zone.processors);
    zone.running.visit([&](const RunningJob& job) {
        profile_.add(zone.now, job.expected_end, -job.processors);
        return true;
    });
    for (Promised& job : old) {
        const JobRecord& record = zone.record(job.handle);
        const Time start =
            profile_.earliest_start({.from = job.reserved, .duration = job.walltime, .processors = job.processors});
        if (start != kNever) profile_.add(start, start + job.walltime, -job.processors);
        if (start != job.reserved) job.order = next_order_++;
        job.reserved = start;
        add_promise(job);
        if (start != record.reserved) plan.reservations.push_back({record.job.id, start});
    }
}

void Conservative::add_promise(const Promised& job) {
    promised_.insert(job);
    note_due(job);
}

void Conservative::note_due(const Promised& job) {
    due_.push_back({job.reserved, job.order, job.arrival});
    std::ranges::push_heap(due_, std::greater<>{});
    // Stale entries never outnumber the others by much.
    if (due_.size() <= 4 * promised_.size() + 64) return;
    due_.clear();
    promised_.visit([this](const Promised& each) {
        due_.push_back({each.reserved, each.order, each.arrival});
        return true;
    });
    std::ranges::make_heap(due_, std::greater<>{});
}

void Conservative::pop_due() {
    std::ranges::pop_heap(due_, std::greater<>{});
    due_.pop_back();
}

/// The job whose promised start comes first; nullptr where there is none.
const Conservative::Promised* Conservative::next_due() {
    for (; !due_.empty(); pop_due()) {
        const Promised* const job = promised_.find(due_.front().arrival);
        if (job != nullptr && job->order == due_.front().order) return job;
    }
    return nullptr;
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
    RecentStarts recent;
    for (std::size_t b = 0; b < promised_.block_count(); ++b) {
        if (stairs_hold && promised_.block(b).summary().least_processors > stairs_.back().most_free) continue;
        for (Promised& job : promised_.entries_to_change(b)) {
            if (job.reserved <= now) continue;  // counts as started
            const Time before = std::min(job.reserved, until);
            if (stairs_hold && most_free_before(before) < job.processors) continue;
            const Time from = std::max(now, recent.bound(job.processors, job.walltime, job.reserved));
            const Time start = profile_.earliest_start({.from = from,
                                                        .duration = job.walltime,
                                                        .processors = job.processors,
                                                        .before = before,
                                                        .open_from = job.reserved});
            recent.note(job.processors, job.walltime, std::min(start, before));
            if (start == kNever) {
                // Where job after job moves, stairs would cost more than they save.
                if (!stairs_hold) find_stairs(now, until);
                stairs_hold = true;
                continue;
            }
            // Where the old and the new place overlap the profile stays as it is.
            const Time end = start + job.walltime;
            const Time old_end = job.reserved == kNever ? kNever : job.reserved + job.walltime;
            profile_.add(start, std::min(end, job.reserved), -job.processors);
            if (job.reserved != kNever) {
                const Time back_from = std::max(end, job.reserved);
                profile_.add(back_from, old_end, job.processors);
                recent.give_back(back_from, profile_.most_free(back_from, old_end));
            }
            job.reserved = start;
            job.order = next_order_++;
            note_due(job);
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
    add_promise({job.arrival, job.walltime, start, next_order_++, job.processors, job.handle});
    const JobRecord& record = zone.record(job.handle);
    if (record.reserved != start) plan.reservations.push_back({record.job.id, start});
}

/// Starts the jobs whose promised start has come, and plans again at the next one.
void Conservative::start_due(const ZoneSnapshot& zone, Plan& plan) {
    std::int32_t free = zone.free_processors;
    std::vector<Promised> started;
    const Promised* due = next_due();
    for (; zone.instant_complete && due != nullptr && due->reserved <= zone.now && due->processors <= free;
         due = next_due()) {
        free -= due->processors;
        const JobId id = zone.record(due->handle).job.id;
        plan.starts.push_back(id);
        std::erase_if(plan.reservations, [&](const Reservation& reservation) { return reservation.id == id; });
        started.push_back(*due);
        pop_due();
    }
    if (due != nullptr) plan.wake_at = due->reserved;
    if (plan.wake_at <= zone.now) plan.wake_at = zone.instant_complete ? zone.now + std::chrono::seconds{1} : zone.now;
    // They wait until the driver reports their starts.
    for (const Promised& job : started) note_due(job);
}

void Conservative::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    bool made_anew = !age_.follows(zone);
    if (!made_anew) {
        follow(zone);
        // A job that should have started before, but did not, runs until later than the profile shows.
        const Promised* const due = next_due();
        made_anew = due != nullptr && due->reserved < zone.now;
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

    start_due(zone, plan);
}

}  // namespace zbs
