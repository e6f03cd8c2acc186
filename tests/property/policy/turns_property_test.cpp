#include <gtest/gtest.h>

#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/support/zones.hpp"

// Jobs that take turns under every rule, and a policy that preempts a million times.
namespace zbs {
namespace {

using namespace std::chrono_literals;
using test::workload;

TEST(Gang, EveryPackingRuleRunsEveryJob) {
    for (const std::string packing : {"first-fit", "best-fit", "ffd", "memory-fit", "buddy"})
        for (const std::string fill : {"false", "true"})
            for (const std::string compact : {"false", "true"})
                for (std::uint64_t seed = 0; seed < 10; ++seed) {
                    SCOPED_TRACE(packing + " fill " + fill + " compact " + compact + " seed " + std::to_string(seed));
                    const Workload jobs = test::random_workload({.seed = seed, .gap = 6});
                    const Result<SimulationOutcome> outcome = simulate(
                        jobs, **make_policy("gang", {{"packing", packing}, {"fill", fill}, {"compact", compact}}),
                        {.slice = 3s});
                    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
                    for (std::size_t i = 0; i < jobs.jobs.size(); ++i)
                        ASSERT_GE(outcome->end[i] - outcome->start[i], jobs.jobs[i].runtime);
                }
}

/// Preempts whoever runs, and starts somebody else, every millisecond.
class FicklePolicy final : public Policy {
  public:
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        plan.clear();
        if (!zone.running.empty()) plan.preemptions.push_back(zone.record(zone.running.front().handle).job.id);
        if (!zone.waiting.empty()) plan.starts.push_back(zone.record(zone.waiting.back().handle).job.id);
        plan.wake_at = zone.now + std::chrono::milliseconds{1};
    }
};

TEST(Simulate, StopsPreemptionsWithoutEnd) {
    const Workload jobs = workload(1, {{0, 1, 100'000}, {0, 1, 100'000}});
    FicklePolicy fickle;
    const Result<SimulationOutcome> outcome = simulate(jobs, fickle, {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace zbs
