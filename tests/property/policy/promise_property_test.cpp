#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "algorithms/policy/backfill/depth_backfill.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/property/policy/policy_cases.hpp"
#include "tests/support/zones.hpp"

// Promises, held against what became of them.
namespace zbs {
namespace {

using test::PolicyCase;
using test::random_workload;

/// Which of a policy's promises stand until the job starts.
enum class Binding { kAll, kFirstInLine };

class PromiseWatch final : public Policy {
  public:
    PromiseWatch(std::unique_ptr<Policy> watched, Binding binding) : watched_(std::move(watched)), binding_(binding) {}
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        watched_->plan(zone, plan);
        for (const JobId id : plan.starts) {
            const auto promise = latest_.find(id);
            if (promise == latest_.end()) continue;
            ASSERT_LE(zone.now, promise->second) << "job " << id << " starts after its promise";
        }
        for (const Reservation& promise : plan.reservations) {
            if (binding_ == Binding::kFirstInLine && promise.id != head_behind(zone, plan)) continue;
            // A job without an end of its slack has been promised the instant itself.
            const Time latest = promise.latest == kNever ? promise.at : promise.latest;
            if (latest == kNever) continue;
            const auto [known, is_new] = latest_.emplace(promise.id, latest);
            ASSERT_TRUE(is_new || promise.at <= known->second) << "the promise of job " << promise.id << " moves back";
        }
    }
    std::size_t promises() const { return latest_.size(); }

  private:
    static JobId head_behind(const ZoneSnapshot& zone, const Plan& plan) {
        JobId head{};
        zone.waiting.visit([&](const WaitingJob& job) {
            head = zone.record(job.handle).job.id;
            return std::find(plan.starts.begin(), plan.starts.end(), head) != plan.starts.end();
        });
        return head;
    }

    std::unique_ptr<Policy> watched_;
    Binding binding_;
    std::map<JobId, Time> latest_;
};

struct PromiseCase {
    PolicyCase policy;
    Binding binding;
    friend std::ostream& operator<<(std::ostream& out, const PromiseCase& which) { return out << which.policy; }
};

class PromiseProperty : public testing::TestWithParam<PromiseCase> {};

INSTANTIATE_TEST_SUITE_P(
    , PromiseProperty,
    testing::Values(PromiseCase{{"easy", {}}, Binding::kAll}, PromiseCase{{"sjbf", {}}, Binding::kAll},
                    PromiseCase{{"easy", {{"order", "slowdown"}}}, Binding::kAll},
                    PromiseCase{{"easy", {{"order", "priority"}}}, Binding::kAll},
                    PromiseCase{{"conservative", {}}, Binding::kAll}, PromiseCase{{"los", {}}, Binding::kAll},
                    PromiseCase{{"backfill", {{"depth", "4"}}}, Binding::kFirstInLine},
                    PromiseCase{{"backfill", {{"depth", "unlimited"}}}, Binding::kFirstInLine},
                    PromiseCase{{"selective", {}}, Binding::kAll},
                    PromiseCase{{"selective", {{"threshold", "1"}}}, Binding::kAll},
                    PromiseCase{{"multiqueue", {{"bounds", "20s,60s"}}}, Binding::kAll},
                    PromiseCase{{"multiqueue", {{"bounds", "20s,60s"}, {"borrow", "true"}}}, Binding::kAll},
                    PromiseCase{{"slack", {{"slack", "0"}}}, Binding::kAll}, PromiseCase{{"slack", {}}, Binding::kAll},
                    PromiseCase{{"slack", {{"slack", "5"}}}, Binding::kAll},
                    PromiseCase{{"dynamic", {{"max_delay", "30s"}, {"gain", "0"}}}, Binding::kAll},
                    PromiseCase{{"dynamic", {}}, Binding::kAll}),
    [](const auto& tested) { return tested.param.policy.label(); });

TEST_P(PromiseProperty, NoJobStartsAfterItsPromise) {
    std::size_t promises = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        for (const EventRules rules : {EventRules::kBatched, EventRules::kReference}) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << (rules == EventRules::kBatched ? " batched" : ""));
            PromiseWatch policy(GetParam().policy.make(), GetParam().binding);
            const Result<SimulationOutcome> outcome =
                simulate(random_workload({.seed = seed, .gap = 12}), policy, {.rules = rules});
            ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
            if (HasFatalFailure()) return;
            promises += policy.promises();
        }
    }
    EXPECT_GT(promises, 1'000u) << "the workloads are too easy to say anything";
}

TEST(BackfillProperty, DepthOneIsEasy) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        const Workload jobs = random_workload({.seed = seed, .gap = 12});
        // depth=1 is made as EASY; the general object must agree with it.
        DepthBackfill general(1, BackfillOrder::kArrival);
        const Result<SimulationOutcome> one = simulate(jobs, general, {});
        const Result<SimulationOutcome> easy = simulate(jobs, *PolicyCase{"easy", {}}.make(), {});
        ASSERT_TRUE(one.has_value() && easy.has_value());
        ASSERT_EQ(one->start, easy->start);
    }
}

TEST(BackfillProperty, WithoutEarlyEndsUnlimitedDepthIsConservative) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        const Workload jobs = random_workload({.seed = seed, .gap = 12, .overestimate = 1});
        const Result<SimulationOutcome> unlimited =
            simulate(jobs, *PolicyCase{"backfill", {{"depth", "unlimited"}}}.make(), {});
        const Result<SimulationOutcome> conservative = simulate(jobs, *PolicyCase{"conservative", {}}.make(), {});
        ASSERT_TRUE(unlimited.has_value() && conservative.has_value());
        ASSERT_EQ(unlimited->start, conservative->start);
    }
}

TEST(SlackProperty, WithoutSlackNobodyWaitsLongerThanItsFirstPromise) {
    // The same promise as conservative backfilling makes on arrival, so no job is worse off than promised there.
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        const Workload jobs = random_workload({.seed = seed, .gap = 12, .overestimate = 1});
        const Result<SimulationOutcome> slack = simulate(jobs, *PolicyCase{"slack", {{"slack", "0"}}}.make(), {});
        const Result<SimulationOutcome> conservative = simulate(jobs, *PolicyCase{"conservative", {}}.make(), {});
        ASSERT_TRUE(slack.has_value() && conservative.has_value());
        ASSERT_EQ(slack->start, conservative->start);
    }
}

}  // namespace
}  // namespace zbs
