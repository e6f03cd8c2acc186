#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"
#include "algorithms/policy/backfill/los.hpp"

namespace zbs {
namespace {

struct Instance {
    std::vector<LookaheadJob> jobs;
    std::int32_t capacity, extra;
};

Instance random_instance(std::uint64_t seed) {
    Rng rng(seed);
    Instance made;
    made.capacity = static_cast<std::int32_t>(rng.below(140));
    made.extra = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(made.capacity) + 2));
    const std::uint64_t jobs = 1 + rng.below(12);
    const std::uint64_t widest = 1 + rng.below(80);
    for (std::uint64_t i = 0; i < jobs; ++i)
        made.jobs.push_back({static_cast<std::int32_t>(1 + rng.below(widest)), rng.below(2) == 0});
    return made;
}

struct Use {
    std::int32_t all = 0, past_shadow = 0;
};
Use use_of(const Instance& instance, std::uint32_t set) {
    Use use;
    for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        use.all += instance.jobs[i].processors;
        if (instance.jobs[i].runs_past_shadow) use.past_shadow += instance.jobs[i].processors;
    }
    return use;
}

std::int32_t brute_force(const Instance& instance, std::size_t count) {
    std::int32_t best = 0;
    for (std::uint32_t set = 0; set < (1u << count); ++set) {
        const Use use = use_of(instance, set);
        if (use.all <= instance.capacity && use.past_shadow <= instance.extra) best = std::max(best, use.all);
    }
    return best;
}

TEST(LookaheadProperty, SetIsSafeAndNoSetUsesMore) {
    for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
        SCOPED_TRACE(seed);
        const Instance instance = random_instance(seed);
        const LookaheadTable table(instance.jobs, instance.capacity, instance.extra);
        std::uint32_t set = 0;
        for (const std::size_t index : table.best_set()) set |= 1u << index;
        const Use use = use_of(instance, set);
        ASSERT_LE(use.all, instance.capacity);
        ASSERT_LE(use.past_shadow, instance.extra);
        ASSERT_EQ(use.all, brute_force(instance, instance.jobs.size()));
    }
}

TEST(LookaheadProperty, EveryPrefixIsSolvedToo) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        const Instance instance = random_instance(seed);
        const LookaheadTable table(instance.jobs, instance.capacity, instance.extra);
        for (std::size_t count = 0; count <= instance.jobs.size(); ++count)
            ASSERT_EQ(table.util(count, instance.capacity, instance.extra), brute_force(instance, count));
    }
}

/// The source's own table, cell by cell, in the plain way.
TEST(LookaheadProperty, AnswersAsTheThreeDimensionalTableDoes) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Instance instance = random_instance(seed);
        instance.capacity = std::min(instance.capacity, 24);
        instance.extra = std::min(instance.extra, instance.capacity);
        const LookaheadTable table(instance.jobs, instance.capacity, instance.extra);
        const std::size_t width = static_cast<std::size_t>(instance.capacity) + 1;
        std::vector<std::int32_t> before(width * width, 0), now(width * width, 0);
        for (std::size_t i = 1; i <= instance.jobs.size(); ++i) {
            const LookaheadJob& job = instance.jobs[i - 1];
            for (std::int32_t j = 0; j <= instance.capacity; ++j) {
                for (std::int32_t k = 0; k <= instance.extra; ++k) {
                    const auto cell = [&](std::int32_t a, std::int32_t b) {
                        return static_cast<std::size_t>(a) * width + static_cast<std::size_t>(b);
                    };
                    const std::int32_t left = k - (job.runs_past_shadow ? job.processors : 0);
                    std::int32_t util = before[cell(j, k)];
                    bool selected = false;
                    if (job.processors <= j && left >= 0 &&
                        before[cell(j - job.processors, left)] + job.processors > util) {
                        util = before[cell(j - job.processors, left)] + job.processors;
                        selected = true;
                    }
                    now[cell(j, k)] = util;
                    ASSERT_EQ(table.util(i, j, k), util) << i << " " << j << " " << k;
                    ASSERT_EQ(table.selected(i, j, k), selected) << i << " " << j << " " << k;
                }
            }
            before = now;
        }
    }
}

}  // namespace
}  // namespace zbs
