#include "algorithms/policy/backfill/capacity_profile.hpp"

#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"
#include "algorithms/policy/backfill/start_bounds.hpp"

namespace zbs {
namespace {

using std::chrono::microseconds;

Time at(std::int64_t us) { return Time{microseconds{us}}; }

/// The same step function, one number for every instant of a short time.
class PlainProfile {
  public:
    PlainProfile(std::int64_t until, std::int32_t capacity)
        : free_(static_cast<std::size_t>(until), capacity), after_(capacity) {}
    void add(std::int64_t begin, std::int64_t end, std::int32_t delta) {
        for (std::int64_t t = std::max<std::int64_t>(begin, 0); t < std::min<std::int64_t>(end, size()); ++t)
            free_[static_cast<std::size_t>(t)] += delta;
        if (end > size()) after_ += delta;
    }
    std::int32_t free_at(std::int64_t t) const { return t < size() ? free_[static_cast<std::size_t>(t)] : after_; }
    std::int32_t least(std::int64_t from, std::int64_t until) const {
        std::int32_t result = free_at(from);
        for (std::int64_t t = from; t < until && t <= size(); ++t) result = std::min(result, free_at(t));
        return result;
    }
    std::int32_t most(std::int64_t from, std::int64_t until) const {
        std::int32_t result = free_at(from);
        for (std::int64_t t = from; t < until && t <= size(); ++t) result = std::max(result, free_at(t));
        return result;
    }
    Time earliest(std::int64_t from, std::int64_t duration, std::int32_t processors) const {
        for (std::int64_t t = from; t <= size() + duration; ++t)
            if (least(t, t + duration) >= processors) return at(t);
        return kNever;
    }
    Time first_with(std::int64_t from, std::int32_t processors) const { return earliest(from, 1, processors); }

  private:
    std::int64_t size() const { return static_cast<std::int64_t>(free_.size()); }
    std::vector<std::int32_t> free_;
    std::int32_t after_;
};

TEST(CapacityProfile, IsOneStepWhereNothingIsTaken) {
    const CapacityProfile profile(at(5), 8);
    EXPECT_EQ(profile.breakpoint_count(), 1u);
    EXPECT_EQ(profile.free_at(at(5)), 8);
    EXPECT_EQ(profile.earliest_start({.from = at(7), .duration = microseconds{100}, .processors = 8}), at(7));
    EXPECT_EQ(profile.earliest_start({.from = at(7), .duration = microseconds{100}, .processors = 9}), kNever);
}

TEST(CapacityProfile, FindsTheGapThatIsLongEnough) {
    CapacityProfile profile(at(0), 4);
    profile.add(at(0), at(10), -2);
    profile.add(at(15), at(30), -3);
    const auto start = [&](int duration, int processors) {
        return profile.earliest_start({.from = at(0), .duration = microseconds{duration}, .processors = processors});
    };
    EXPECT_EQ(start(10, 2), at(0));
    EXPECT_EQ(start(15, 2), at(0));
    EXPECT_EQ(start(16, 2), at(30));
    EXPECT_EQ(start(5, 4), at(10));
    EXPECT_EQ(start(6, 4), at(30));
    EXPECT_EQ(start(100, 1), at(0));
}

TEST(CapacityProfile, EqualNeighboursBecomeOneStep) {
    CapacityProfile profile(at(0), 4);
    profile.add(at(3), at(9), -2);
    profile.add(at(9), at(12), -2);
    EXPECT_EQ(profile.breakpoint_count(), 3u);
    profile.add(at(3), at(12), 2);
    EXPECT_EQ(profile.breakpoint_count(), 1u);
}

TEST(CapacityProfile, AnswersAsAPlainArrayDoes) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const std::int64_t until = 40 + static_cast<std::int64_t>(rng.below(1000));
        const std::int32_t capacity = 20;
        CapacityProfile profile(at(0), capacity);
        PlainProfile plain(until, capacity);
        std::int64_t now = 0;
        const auto below = [&rng](std::int64_t bound) {
            return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(bound)));
        };
        for (int step = 0; step < 300; ++step) {
            const std::int64_t begin = now + below(until - now), end = begin + 1 + below(until / 4);
            const std::int32_t delta = static_cast<std::int32_t>(below(9)) - 4;
            if (delta != 0) {
                const Time stop = below(20) == 0 ? kNever : at(end);
                profile.add(at(begin), stop, delta);
                plain.add(begin, stop == kNever ? until + 1 : end, delta);
                if (stop != kNever && end > until) plain.add(until, until + 1, -delta);  // plain ends before `end`
            }
            if (below(25) == 0 && now + 2 < until) profile.forget_before(at(++now));
            const std::int64_t from = now + below(until - now);
            const std::int64_t to = std::min(from + 1 + below(50), until);
            ASSERT_EQ(profile.free_at(at(from)), plain.free_at(from));
            if (to > from) {
                ASSERT_EQ(profile.least_free(at(from), at(to)), plain.least(from, to));
                ASSERT_EQ(profile.most_free(at(from), at(to)), plain.most(from, to));
            }
        }
    }
}

TEST(CapacityProfile, FindsRoomWhereAPlainArrayDoes) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const std::int64_t until = 600;
        CapacityProfile profile(at(0), 20);
        PlainProfile plain(until, 20);
        const auto below = [&rng](std::int64_t bound) {
            return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(bound)));
        };
        for (int step = 0; step < 200; ++step) {
            const std::int64_t begin = below(until - 60), end = begin + 1 + below(60);
            const std::int32_t delta = -1 - static_cast<std::int32_t>(below(6));
            profile.add(at(begin), at(end), delta);
            plain.add(begin, end, delta);
            const std::int64_t from = below(until), duration = 1 + below(80);
            const std::int32_t processors = static_cast<std::int32_t>(1 + below(21));
            const CapacityProfile::Room room{
                .from = at(from), .duration = microseconds{duration}, .processors = processors};
            const Time expected = plain.earliest(from, duration, processors);
            ASSERT_EQ(profile.earliest_start(room), expected);
            ASSERT_EQ(profile.first_with(at(from), processors), plain.first_with(from, processors));
            CapacityProfile::Room bounded = room;
            bounded.before = at(from + below(200));
            const Time found = profile.earliest_start(bounded);
            ASSERT_EQ(found, expected < bounded.before ? expected : kNever);
        }
    }
}

TEST(CapacityProfile, SearchesThatSkipLeavesFindWhatAWalkOverAllStepsFinds) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const auto below = [&rng](std::int64_t bound) {
            return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(bound)));
        };
        const std::int32_t capacity = seed % 2 == 0 ? 64 : 100'000;
        CapacityProfile profile(at(0), capacity);
        const auto change = [&] {
            const std::int64_t begin = below(100'000);
            const auto size = static_cast<std::int32_t>(1 + below(capacity / 4));
            profile.add(at(begin), at(begin + 1 + below(300)), below(3) == 0 ? size : -size);
        };
        for (int i = 0; i < 4'000; ++i) change();  // hundreds of leaves
        for (int step = 0; step < 150; ++step) {
            for (int i = 0; i < 3; ++i) change();
            const std::int64_t from = below(90'000);
            const CapacityProfile::Room room{.from = at(from),
                                             .duration = microseconds{1 + below(below(2) == 0 ? 60 : 2'000)},
                                             .processors = static_cast<std::int32_t>(1 + below(capacity)),
                                             .before = below(2) == 0 ? kNever : at(from + below(50'000)),
                                             .open_from = below(2) == 0 ? kNever : at(from + 1 + below(90'000))};
            Time start = kNever;
            bool over = false;
            profile.visit([&](Time begin, std::int32_t free) {
                if (over) return;
                over = start != kNever && begin >= std::min(start + room.duration, room.open_from);
                if (over) return;
                if (free < room.processors) start = kNever;
                if (free >= room.processors && start == kNever) start = std::max(begin, room.from);
                // A step before `from` that another one follows before `from` is no start.
                if (begin <= room.from && start != kNever) start = room.from;
            });
            ASSERT_EQ(profile.earliest_start(room), start < room.before ? start : kNever);
        }
    }
}

TEST(StartBounds, FindTheStartsOfASearchFromNow) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const std::int32_t capacity = seed % 2 == 0 ? 64 : 100'000'000;
        CapacityProfile profile(at(0), capacity);
        StartBounds bounds(capacity);
        for (int job = 0; job < 400; ++job) {
            // Sizes and lengths of every order of magnitude, also below a second and above a year.
            const auto processors =
                static_cast<std::int32_t>(1 + rng.below(std::uint64_t{1} << rng.below(seed % 2 == 0 ? 7 : 27)));
            const Duration length =
                microseconds{1 + static_cast<std::int64_t>(rng.below(std::uint64_t{1} << rng.below(48)))};
            const Time expected = profile.earliest_start({.from = at(0), .duration = length, .processors = processors});
            ASSERT_EQ(bounds.earliest_start(profile, at(0), processors, length), expected);
            if (expected != kNever) profile.add(expected, expected + length, -processors);
        }
    }
}

TEST(RecentStarts, FindTheStartsOfASearchFromNowWhileJobsMove) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        struct Placed {
            std::int32_t processors;
            Duration length;
            Time start;
        };
        CapacityProfile profile(at(0), 64);
        std::vector<Placed> jobs;
        for (int job = 0; job < 300; ++job) {
            const auto processors = static_cast<std::int32_t>(1 + rng.below(std::uint64_t{1} << rng.below(7)));
            const Duration length = microseconds{1 + static_cast<std::int64_t>(rng.below(100))};
            const Time start = profile.earliest_start({.from = at(0), .duration = length, .processors = processors});
            profile.add(start, start + length, -processors);
            jobs.push_back({processors, length, start});
        }
        std::size_t moves = 0;
        for (int pass = 1; pass <= 20; ++pass) {
            const Time now = at(pass);
            profile.forget_before(now);
            // A job that ended early leaves a hole.
            const Placed ended = jobs.front();
            jobs.erase(jobs.begin());
            profile.add(std::max(now, ended.start), ended.start + ended.length, ended.processors);
            RecentStarts recent;
            for (Placed& job : jobs) {
                if (job.start <= now) continue;
                CapacityProfile::Room room{.from = now,
                                           .duration = job.length,
                                           .processors = job.processors,
                                           .before = job.start,
                                           .open_from = job.start};
                const Time expected = profile.earliest_start(room);
                room.from = std::max(now, recent.bound(job.processors, job.length, job.start));
                const Time start = profile.earliest_start(room);
                ASSERT_EQ(start, expected);
                recent.note(job.processors, job.length, std::min(start, job.start));
                if (start == kNever) continue;
                const Time old_end = job.start + job.length;
                profile.add(job.start, old_end, job.processors);
                profile.add(start, start + job.length, -job.processors);
                const Time back_from = std::max(start + job.length, job.start);
                recent.give_back(back_from, profile.most_free(back_from, old_end));
                job.start = start;
                ++moves;
            }
        }
        EXPECT_GT(moves, 0u);
    }
}

}  // namespace
}  // namespace zbs
