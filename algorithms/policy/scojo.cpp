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
    Duration left{};  ///< of the walltime, in dedicated time
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
            member.left = std::max(record.walltime_left - (zone.now - record.start), Duration{1});
            running_.push_back(member);
            return true;
        });
        std::ranges::sort(running_, {}, [](const Member& m) { return std::pair(m.start, m.arrival); });
    }

    Member member_of(const Job& job, std::uint64_t arrival, Time start) const {
        const std::int32_t own = options_.share > 0 ? options_.share : 100 / options_.level;
        const std::int32_t least = job.least_share > 0 ? job.least_share : own;
        return {.id = job.id,
                .program = job.application,
                .least = least,
                .most = std::max<std::int32_t>(least, job.most_share),
                .left = job.walltime,
                .start = start,
                .arrival = arrival};
    }

    /// The class of a job, one up for each time it has aged.
    std::int32_t priority_of(const JobRecord& record) const {
        std::size_t cls = 0;
        while (cls < options_.classes.size() && record.job.walltime > options_.classes[cls]) ++cls;
        const auto highest = static_cast<std::int32_t>(5 * options_.classes.size());
        std::int32_t priority = highest - static_cast<std::int32_t>(5 * cls);
        if (options_.age > Duration::zero()) {
            const std::int64_t steps = (zone_.now - record.waiting_since) / options_.age;
            priority = static_cast<std::int32_t>(std::min<std::int64_t>(highest, priority + 5 * steps));
        }
        return priority;
    }

    /// Whether the newcomer can run beside `others`.
    bool fits(const std::vector<Member>& others, const Member& newcomer) const {
        if (static_cast<std::int32_t>(others.size()) >= options_.level) return false;
        std::int32_t share = newcomer.least;
        std::vector<std::int32_t> programs{newcomer.program};
        for (const Member& other : others) {
            share += other.most;
            programs.push_back(other.program);
        }
        return share <= 100 && (others.empty() || options_.estimator.worst(programs) <= options_.worst_slowdown);
    }
    /// The same where every job has only what it is guaranteed.
    bool fits_at_least(const std::vector<Member>& others, const Member& newcomer) const {
        if (static_cast<std::int32_t>(others.size()) >= options_.level) return false;
        std::int32_t share = newcomer.least;
        std::vector<std::int32_t> programs{newcomer.program};
        for (const Member& other : others) {
            share += other.least;
            programs.push_back(other.program);
        }
        return share <= 100 && (others.empty() || options_.estimator.worst(programs) <= options_.worst_slowdown);
    }

    /// How long a member takes at the least share and the largest slowdown, or at the most share beside those of now.
    Duration longest(const Member& member) const {
        return scaled(member.left, 100.0 / member.least * options_.worst_slowdown);
    }
    Duration expected(const Member& member, std::int32_t share, std::size_t jobs) const {
        const std::vector<std::int32_t> others(jobs - 1, -1);
        return scaled(member.left, 100.0 / share * options_.estimator.slowdown(-1, others));
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

    /// Whether those of `members` that can still run at `at` leave room for `newcomer` then.
    bool guaranteed(const std::vector<Member>& members, const Member& newcomer, Time at) const {
        std::vector<Member> still;
        for (const Member& member : members)
            if (std::max(member.start, zone_.now) + longest(member) > at) still.push_back(member);
        return fits_at_least(still, newcomer);
    }
    /// The earliest start from `from` on that `members` leave room for whatever they do.
    Time guaranteed_start(const std::vector<Member>& members, const Member& newcomer, Time from) const {
        std::vector<Time> candidates{from};
        for (const Member& member : members)
            if (const Time end = std::max(member.start, zone_.now) + longest(member); end > from)
                candidates.push_back(end);
        std::ranges::sort(candidates);
        for (const Time at : candidates)
            if (guaranteed(members, newcomer, at)) return at;
        return candidates.back();
    }
    /// Whether all reservations still hold with `newcomer` running from now on.
    bool keeps_reservations(const Member& newcomer) const {
        std::vector<Member> members = running_;
        members.push_back(newcomer);
        for (const Member& reserved : reserved_) {
            if (!guaranteed(members, reserved, reserved.start)) return false;
            members.push_back(reserved);
        }
        return true;
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
        for (std::size_t i = 0; i < running_.size() && free > 0; ++i) {
            const std::int32_t more = std::min(free, running_[i].most - running_[i].least);
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
    static Duration scaled(Duration time, double factor) {
        const double us = static_cast<double>(time.count()) * factor;
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
    for (Member& member : making.running()) {
        zone.running.visit([&](const RunningJob& job) {
            if (zone.record(job.handle).job.id == member.id)
                member.priority = making.priority_of(zone.record(job.handle));
            return true;
        });
    }

    std::vector<Member> queue;
    zone.waiting.visit([&](const WaitingJob& job) {
        const JobRecord& record = zone.record(job.handle);
        Member member = making.member_of(record.job, record.arrival, record.job.start_at);
        member.left = record.walltime_left;
        member.priority = making.priority_of(record);
        if (record.job.start_at == kNever) {
            queue.push_back(member);
        } else {
            // A promise that stands comes before the wish.
            if (record.reserved != kNever) member.start = record.reserved;
            member.start = std::max(member.start, zone.now);
            making.reserved().push_back(member);
        }
        return true;
    });
    std::vector<Member>& reserved = making.reserved();
    std::ranges::sort(reserved, {}, [](const Member& m) { return std::pair(m.start, m.arrival); });
    std::vector<Member> members = making.running();
    for (Member& member : reserved) {
        member.start = making.guaranteed_start(members, member, member.start);
        members.push_back(member);
    }
    std::ranges::stable_sort(reserved, {}, [](const Member& m) { return std::pair(m.start, m.arrival); });
    while (!reserved.empty() && reserved.front().start <= zone.now) {
        const Member due = reserved.front();
        reserved.erase(reserved.begin());
        making.start(due, plan);
    }
    for (const Member& member : reserved) {
        zone.waiting.visit([&](const WaitingJob& job) {
            const JobRecord& record = zone.record(job.handle);
            if (record.job.id == member.id && record.reserved != member.start)
                plan.reservations.push_back({member.id, member.start});
            return true;
        });
        plan.wake_at = std::min(plan.wake_at, member.start);
    }

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

std::vector<SlotOffer> Scojo::offers(const ZoneSnapshot& zone, const Job& job, std::size_t count) const {
    Making making(options_, zone);
    std::vector<Member> members = making.running();
    zone.waiting.visit([&](const WaitingJob& waiting) {
        const JobRecord& record = zone.record(waiting.handle);
        if (record.reserved == kNever || record.job.start_at == kNever) return true;
        members.push_back(making.member_of(record.job, record.arrival, record.reserved));
        return true;
    });
    const Member wanted = making.member_of(job, 0, zone.now);
    std::vector<Time> candidates{zone.now};
    for (const Member& member : members)
        candidates.push_back(std::max(member.start, zone.now) + making.longest(member));
    std::ranges::sort(candidates);
    const auto repeated = std::ranges::unique(candidates);
    candidates.erase(repeated.begin(), repeated.end());
    std::vector<SlotOffer> found;
    for (const Time at : candidates) {
        if (found.size() >= count) break;
        std::vector<Member> still;
        for (const Member& member : members) {
            const Time begin = std::max(member.start, zone.now);
            // A reservation that begins while the job may still run counts, too.
            if (begin + making.longest(member) > at && begin < at + making.longest(wanted)) still.push_back(member);
        }
        if (!making.fits_at_least(still, wanted)) continue;
        std::int32_t free = 100;
        std::vector<std::int32_t> programs;
        for (const Member& member : still) {
            free -= member.least;
            programs.push_back(member.program);
        }
        found.push_back({at, free, options_.estimator.slowdown(wanted.program, programs)});
    }
    return found;
}

}  // namespace zbs
