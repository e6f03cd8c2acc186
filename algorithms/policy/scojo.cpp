#include "algorithms/policy/scojo.hpp"

#include <algorithm>
#include <tuple>

namespace zbs {

/// A job that runs, is about to, or has a reservation.
struct Scojo::Member {
    JobId id;
    std::int32_t program = -1;
    std::int32_t least = 0, most = 0;  ///< share, per cent
    std::int32_t priority = 0;
    bool longest = false;   ///< of the lowest class, whatever its age
    bool reserved = false;  ///< has a start reserved in advance
    Duration walltime{};
    Duration served{};  ///< so far, in seconds of the whole machine
    Time start{};
    std::uint64_t arrival = 0;
};

/// One plan in the making, or one question about the snapshot.
class Scojo::Making {
  public:
    Making(const Options& options, const ZoneSnapshot& zone) : options_(options), zone_(zone) {
        zone.running.visit([&](const RunningJob& job) {
            const JobRecord& record = zone.record(job.handle);
            Member member = member_of(record.job, record.arrival, record.start);
            member.served = served(record, zone.now);
            member.priority = priority_of(record);
            running_.push_back(member);
            return true;
        });
        std::ranges::sort(running_, {}, [](const Member& m) { return std::pair(m.start, m.arrival); });
    }

    Member member_of(const Job& job, std::uint64_t arrival, Time start) const {
        const std::int32_t own = options_.share > 0 ? options_.share : default_share(options_.level);
        const std::int32_t least = job.least_share > 0 ? job.least_share : own;
        return {.id = job.id,
                .program = job.application,
                .least = least,
                .most = std::max<std::int32_t>(least, job.most_share),
                .longest = class_of(job) == options_.classes.size(),
                .reserved = job.start_at != kNever,
                .walltime = job.walltime,
                .start = start,
                .arrival = arrival};
    }

    /// 0: the shortest jobs.
    std::size_t class_of(const Job& job) const {
        std::size_t cls = 0;
        while (cls < options_.classes.size() && job.walltime > options_.classes[cls]) ++cls;
        return cls;
    }

    /// By class, one up for each time it has aged.
    std::int32_t priority_of(const JobRecord& record) const {
        const std::size_t cls = class_of(record.job);
        const auto highest = static_cast<std::int32_t>(5 * options_.classes.size());
        std::int32_t priority = highest - static_cast<std::int32_t>(5 * cls);
        if (options_.age > Duration::zero()) {
            const std::int64_t steps = (zone_.now - record.waiting_since) / options_.age;
            priority = static_cast<std::int32_t>(std::min<std::int64_t>(highest, priority + 5 * steps));
        }
        return priority;
    }

    /// Whether the newcomer can run beside `others`, with each of these at the most share that it can make use of.
    bool fits(const std::vector<Member>& others, const Member& newcomer) const {
        if (options_.longest_together > 0 && newcomer.longest &&
            std::ranges::count(others, true, &Member::longest) >= options_.longest_together)
            return false;
        return fits(others, newcomer, &Member::most);
    }
    /// The same with each at what it is guaranteed.
    bool fits_at_least(const std::vector<Member>& others, const Member& newcomer) const {
        return fits(others, newcomer, &Member::least);
    }

    /// How long a member still takes at the least share and the largest slowdown. With time passing, now + longest
    /// never grows: the job is given its least share or more.
    Duration longest(const Member& member) const {
        return scaled(scaled(member.walltime, options_.worst_slowdown) - member.served, 100.0 / member.least);
    }
    /// How long it takes at this share beside so many jobs in all.
    Duration expected(const Member& member, std::int32_t share, std::size_t jobs) const {
        const double slowdown = options_.estimator.slowdown(-1, std::vector<std::int32_t>(jobs - 1, -1));
        return scaled(scaled(member.walltime, slowdown) - member.served, 100.0 / share);
    }

    /// When the newcomer could start if running jobs end as expected and nobody else comes.
    Time expected_start(const Member& newcomer) const {
        std::vector<Member> left = running_;
        if (fits(left, newcomer)) return zone_.now;
        std::ranges::stable_sort(left, {}, [&](const Member& m) { return expected(m, m.most, running_.size()); });
        while (!left.empty()) {
            const Duration wait = expected(left.front(), left.front().most, running_.size());
            left.erase(left.begin());
            if (fits(left, newcomer)) return zone_.now + wait;
        }
        return zone_.now;
    }

    /// Whether the job fits at its start beside all of `members` that can run at any time together with it, whatever
    /// they do within their walltimes.
    bool guaranteed(const std::vector<Member>& members, const Member& job) const {
        const auto begin = [&](const Member& member) { return std::max(member.start, zone_.now); };
        const Time end = begin(job) + longest(job);
        std::vector<Member> beside;
        for (const Member& member : members)
            if (member.id != job.id && begin(member) < end && begin(member) + longest(member) > begin(job))
                beside.push_back(member);
        return fits_at_least(beside, job);
    }
    /// Whether all that run and all that have a reservation can still do so together with `job` at its start.
    bool keeps_reservations(const Member& job) const {
        std::vector<Member> members = running_;
        members.insert(members.end(), reserved_.begin(), reserved_.end());
        members.push_back(job);
        return std::ranges::all_of(reserved_, [&](const Member& reserved) { return guaranteed(members, reserved); });
    }
    /// The earliest start from `job.start` on that can be promised to the job.
    Time guaranteed_start(Member job) const {
        std::vector<Member> members = running_;
        members.insert(members.end(), reserved_.begin(), reserved_.end());
        std::vector<Time> candidates{std::max(job.start, zone_.now)};
        for (const Member& member : members)
            if (const Time end = std::max(member.start, zone_.now) + longest(member); end > candidates.front())
                candidates.push_back(end);
        std::ranges::sort(candidates);
        for (const Time at : candidates) {
            job.start = at;
            if (guaranteed(members, job) && keeps_reservations(job)) break;
        }
        return job.start;
    }

    void start(const Member& member, Plan& plan) {
        plan.starts.push_back(member.id);
        running_.push_back(member);
        running_.back().start = zone_.now;
    }

    std::vector<Member>& running() { return running_; }
    std::vector<Member>& reserved() { return reserved_; }

    /// Jobs by seniority get the most they ask for as far as it goes, all at least what they are guaranteed.
    void share_out(Plan& plan) const {
        if (running_.empty()) return;
        std::vector<std::int32_t> shares;
        std::int32_t free = 100;
        for (const Member& member : running_) {
            shares.push_back(member.least);
            free -= member.least;
        }
        // Only where a job took longer than its walltime at the worst slowdown: a reserved start finds no room.
        for (const bool reserved : {false, true})
            for (std::size_t i = running_.size(); i-- > 0 && free < 0;) {
                if (running_[i].reserved != reserved) continue;
                const std::int32_t less = std::min(-free, shares[i] - 1);
                shares[i] -= less;
                free += less;
            }
        for (std::size_t i = 0; i < running_.size() && free > 0; ++i) {
            const std::int32_t more = std::min(free, running_[i].most - shares[i]);
            shares[i] += more;
            free -= more;
        }
        if (running_.size() == 1) {
            shares[0] = 100;
        } else if (options_.expand == Expand::kAll && free > 0) {
            const std::int32_t given = 100 - free;
            std::int32_t rest = free;
            for (std::size_t i = 0; i < shares.size(); ++i) {
                const std::int32_t more = i + 1 == shares.size() ? rest : shares[i] * free / given;
                rest -= more;
                shares[i] += more;
            }
        }
        for (std::size_t i = 0; i < running_.size(); ++i) plan.shares.push_back({running_[i].id, shares[i]});
    }

  private:
    bool fits(const std::vector<Member>& others, const Member& newcomer, std::int32_t Member::*share_of) const {
        if (static_cast<std::int32_t>(others.size()) >= options_.level) return false;
        std::int32_t share = newcomer.least;
        std::vector<std::int32_t> programs{newcomer.program};
        for (const Member& other : others) {
            share += other.*share_of;
            programs.push_back(other.program);
        }
        return share <= 100 && (others.empty() || options_.estimator.worst(programs) <= options_.worst_slowdown);
    }
    static Duration scaled(Duration time, double factor) {
        const double us = std::max(1.0, static_cast<double>(time.count()) * factor);
        return Duration{static_cast<std::int64_t>(std::min(us, static_cast<double>(ZoneState::kMaxTimeUs) / 4))};
    }

    const Options& options_;
    const ZoneSnapshot& zone_;
    std::vector<Member> running_;   ///< by seniority
    std::vector<Member> reserved_;  ///< waiting jobs with a start reserved, by that start
};

void Scojo::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    Making making(options_, zone);
    std::vector<Member> queue, wishes;
    zone.waiting.visit([&](const WaitingJob& job) {
        const JobRecord& record = zone.record(job.handle);
        Member member = making.member_of(record.job, record.arrival, record.job.start_at);
        member.served = record.served;
        member.priority = making.priority_of(record);
        if (record.job.start_at == kNever) {
            member.start = zone.now;
            queue.push_back(member);
        } else {
            if (record.reserved != kNever) member.start = record.reserved;
            (record.reserved != kNever ? making.reserved() : wishes).push_back(member);
        }
        return true;
    });
    // Promises stand; new ones are made in the order of arrival.
    std::vector<Member>& reserved = making.reserved();
    std::ranges::stable_sort(wishes, {}, &Member::arrival);
    for (Member& wish : wishes) {
        wish.start = making.guaranteed_start(wish);
        reserved.push_back(wish);
        if (wish.start > zone.now) plan.reservations.push_back({wish.id, wish.start});
    }
    std::ranges::stable_sort(reserved, {}, [](const Member& m) { return std::pair(m.start, m.arrival); });
    while (!reserved.empty() && reserved.front().start <= zone.now) {
        const Member due = reserved.front();
        reserved.erase(reserved.begin());
        making.start(due, plan);
    }
    if (!reserved.empty()) plan.wake_at = reserved.front().start;

    if (options_.priority)
        std::ranges::stable_sort(queue, {}, [](const Member& m) { return std::tuple(-m.priority, m.arrival); });
    std::vector<Member> ahead;  // blocked jobs that must not be delayed
    for (const Member& job : queue) {
        if (static_cast<std::int32_t>(making.running().size()) >= options_.level) break;
        const bool can_start = making.fits(making.running(), job) && making.keeps_reservations(job);
        if (can_start && ahead.empty()) {
            making.start(job, plan);
            continue;
        }
        if (!options_.backfill || ahead.size() >= options_.lookahead) break;
        const auto lowest = std::ranges::min_element(making.running(), {}, &Member::priority);
        const bool ranks = lowest == making.running().end() || job.priority >= lowest->priority;
        const auto delays = [&](const Member& other) {
            const Time start = making.expected_start(other);
            if (zone.now + making.expected(job, job.least, making.running().size() + 1) <= start) return false;
            std::vector<Member> beside = making.running();
            std::erase_if(beside, [&](const Member& m) {
                return zone.now + making.expected(m, m.most, making.running().size()) <= start;
            });
            beside.push_back(job);
            return !making.fits(beside, other);
        };
        if (can_start && ranks && std::ranges::none_of(ahead, delays))
            making.start(job, plan);
        else
            ahead.push_back(job);
    }
    making.share_out(plan);
}

}  // namespace zbs
