#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/base/rng.hpp"
#include "studies/models/fluid_makespan.hpp"
#include "studies/models/periodic_schedule.hpp"

namespace zbs::gang {
namespace {

// [DaSilva2000, theorem 4]: less than twice the optimum, once left-over slots are filled; less than three times
// without.
TEST(Theorem4, BoundsHoldOnRandomSets) {
    double worst_literal = 0, worst_filled = 0;
    for (std::uint64_t seed = 0; seed < 6000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const auto processors = static_cast<std::int32_t>(2 + rng.below(31));
        std::vector<StaticJob> jobs(1 + rng.below(24));
        const bool big = rng.below(2) == 0;
        for (StaticJob& job : jobs) {
            job.processors =
                big && rng.below(5) != 0 ? processors / 2 + 1 : static_cast<std::int32_t>(1 + rng.below(processors));
            job.seconds = rng.below(6) == 0 ? 10 + 30 * rng.uniform() : 0.1 + rng.uniform();
        }
        const double optimum = optimal_makespan(jobs, processors);
        const double literal = fluid_makespan(jobs, processors, StaticRule::kFirstFitDecreasing) / optimum;
        const double filled = fluid_makespan(jobs, processors, StaticRule::kFirstFitDecreasingFill) / optimum;
        EXPECT_LT(filled, 2);
        EXPECT_LT(literal, 3);
        EXPECT_GE(filled, 1 - 1e-9);
        EXPECT_GE(literal, 1 - 1e-9);
        worst_literal = std::max(worst_literal, literal);
        worst_filled = std::max(worst_filled, filled);
    }
    EXPECT_GT(worst_literal, 2) << "the sets should be hard enough to break the rule as printed";
    EXPECT_GT(worst_filled, 1.5);
}

// [DaSilva2000, theorem 5], for what its proof gives: the best part idles no more than all parts between equal states
// together, and serves every task of a job equally.
TEST(Theorem5, PeriodicPartIdlesNoMoreThanTheHistory) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const std::int32_t processors = 4;
        // Jobs on fixed processors; a task may lead by two slices at most, and the history ends where it began.
        const std::vector<std::vector<std::int32_t>> on{{0, 1}, {2, 3}, {0, 2}, {1}, {3}};
        std::vector<std::vector<std::int32_t>> lead(on.size());
        for (std::size_t j = 0; j < on.size(); ++j) lead[j].assign(on[j].size(), 0);
        TraceDiagram history(processors);
        for (int step = 0; step < 60; ++step) {
            const std::int32_t row = history.add_row();
            for (std::int32_t turns = 0; turns < 5; ++turns) {
                const std::size_t j = rng.below(on.size());
                std::vector<std::int32_t> chosen;
                const auto entries = history.entries(row);
                if (std::ranges::any_of(entries,
                                        [&](const auto& e) { return e.job == JobId{static_cast<std::int64_t>(j)}; }))
                    continue;
                for (std::size_t i = 0; i < on[j].size(); ++i) {
                    if (!history.is_free(row, on[j][i]) || rng.below(3) == 0) continue;
                    if (lead[j][i] - std::ranges::min(lead[j]) >= 2) continue;
                    chosen.push_back(on[j][i]);
                }
                if (chosen.empty()) continue;
                for (std::size_t i = 0; i < on[j].size(); ++i)
                    lead[j][i] += static_cast<std::int32_t>(std::ranges::count(chosen, on[j][i]));
                history.place(row, JobId{static_cast<std::int64_t>(j)}, chosen);
            }
        }
        EXPECT_LE(largest_lead(history), 3);
        const auto part = best_periodic_part(history);
        ASSERT_TRUE(part);
        EXPECT_TRUE(serves_equally(part->period, history));

        // Brute force over all parts that serve equally: these are the ones between equal states.
        double best = 2;
        for (std::int32_t begin = 0; begin < history.row_count(); ++begin) {
            TraceDiagram rows(processors);
            std::int64_t idle = 0;
            for (std::int32_t end = begin + 1; end <= history.row_count(); ++end) {
                const std::int32_t row = end - 1;
                const std::int32_t to = rows.add_row();
                for (const TraceDiagram::Entry& entry : history.entries(row))
                    rows.place(to, entry.job, history.processors_of(row, entry.job));
                idle += history.free_counts()[static_cast<std::size_t>(row)];
                if (serves_equally(rows, history))
                    best = std::min(best, static_cast<double>(idle) / (processors * (end - begin)));
            }
        }
        EXPECT_NEAR(part->period.idling_ratio(), best, 1e-12);
    }
}

}  // namespace
}  // namespace zbs::gang
