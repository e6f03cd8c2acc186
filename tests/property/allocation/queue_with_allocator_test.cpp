#include <gtest/gtest.h>

#include <map>

#include "algorithms/sim/workload_simulation.hpp"
#include "tests/property/allocation/allocator_cases.hpp"
#include "tests/property/policy/policy_cases.hpp"
#include "tests/support/zones.hpp"

// Every queue policy of exclusive processors over every allocator.
namespace zbs {
namespace {

using test::AllocatorCase;
using test::PolicyCase;

std::vector<PolicyCase> space_sharing_policies() {
    std::vector<PolicyCase> cases = test::policy_cases();
    std::erase_if(cases, [](const PolicyCase& which) { return which.make()->sharing() != ZoneState::Sharing::kSpace; });
    return cases;
}

class QueueWithAllocator : public testing::TestWithParam<PolicyCase> {};
INSTANTIATE_TEST_SUITE_P(, QueueWithAllocator, testing::ValuesIn(space_sharing_policies()),
                         [](const auto& tested) { return tested.param.label(); });

TEST_P(QueueWithAllocator, FirstFitChangesNothing) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        for (const EventRules rules : {EventRules::kBatched, EventRules::kReference}) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << (rules == EventRules::kBatched ? " batched" : ""));
            const Workload jobs = test::random_workload({.seed = seed});
            const std::unique_ptr<Allocator> allocator = AllocatorCase{"first-fit", {}}.make(jobs.processors);
            const auto plain = simulate(jobs, *GetParam().make(), {.rules = rules});
            const auto placed = simulate(jobs, *GetParam().make(), {.rules = rules, .allocator = allocator.get()});
            ASSERT_TRUE(plain.has_value() && placed.has_value()) << placed.error().message;
            ASSERT_EQ(placed->start, plain->start);
            ASSERT_EQ(placed->end, plain->end);
            ASSERT_EQ(placed->events, plain->events);
            ASSERT_EQ(placed->plans, plain->plans);
            ASSERT_EQ(placed->refused_starts, 0u);
        }
    }
}

TEST_P(QueueWithAllocator, EveryJobRunsUnderEveryAllocator) {
    std::uint64_t refused = 0;
    for (const AllocatorCase& which : test::allocator_cases()) {
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
            for (const EventRules rules : {EventRules::kBatched, EventRules::kReference}) {
                SCOPED_TRACE(testing::Message() << which.label() << ", seed " << seed
                                                << (rules == EventRules::kBatched ? " batched" : ""));
                const Workload jobs = test::random_workload({.seed = seed});
                const std::unique_ptr<Allocator> allocator = which.make(jobs.processors);
                const auto outcome = simulate(jobs, *GetParam().make(), {.rules = rules, .allocator = allocator.get()});
                ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
                refused += outcome->refused_starts;
                std::map<Time, std::int32_t> change;
                for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
                    ASSERT_GE(outcome->start[i], jobs.jobs[i].job.submit);
                    ASSERT_GE(outcome->end[i], outcome->start[i] + jobs.jobs[i].runtime);
                    if (!outcome->interruptions.empty()) continue;
                    change[outcome->start[i]] += jobs.jobs[i].job.processors;
                    change[outcome->end[i]] -= jobs.jobs[i].job.processors;
                }
                std::int32_t busy = 0;
                for (const auto& [at, delta] : change) ASSERT_LE(busy += delta, jobs.processors);
                ASSERT_EQ(allocator->free_processors(), jobs.processors) << "the caller's allocator was used";
            }
        }
    }
    EXPECT_GT(refused, 0u) << "no allocator ever refused: nothing was tried";
}

}  // namespace
}  // namespace zbs
