#include <gtest/gtest.h>

#include <map>
#include <set>

#include "algorithms/base/rng.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/property/policy/policy_cases.hpp"
#include "tests/support/zones.hpp"

// What every policy promises, whatever it decides.
namespace zbs {
namespace {

using test::PolicyCase;
using test::random_workload;

/// Hands on to a policy, and holds each of its plans against the contract and against a fresh object's.
class WatchedPolicy final : public Policy {
  public:
    explicit WatchedPolicy(const PolicyCase& which) : which_(which), watched_(which.make()) {}
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        watched_->plan(zone, plan);
        std::int32_t free = zone.free_processors;
        std::map<JobId, const WaitingJob*> waiting;
        zone.waiting.visit([&](const WaitingJob& job) { return waiting[zone.record(job.handle).job.id] = &job, true; });
        std::map<JobId, std::int32_t> running;
        zone.running.visit(
            [&](const RunningJob& job) { return running[zone.record(job.handle).job.id] = job.processors, true; });
        std::set<JobId> named;
        for (const JobId id : plan.starts) {
            ASSERT_TRUE(waiting.contains(id)) << "job " << id << " does not wait";
            ASSERT_TRUE(named.insert(id).second) << "job " << id << " is started twice";
            free -= waiting[id]->processors;
        }
        for (const JobId id : plan.preemptions) {
            ASSERT_TRUE(running.contains(id)) << "job " << id << " does not run";
            ASSERT_TRUE(named.insert(id).second) << "job " << id << " is started and preempted";
            free += running[id];
        }
        if (sharing() == ZoneState::Sharing::kSpace) {
            ASSERT_GE(free, 0) << "more processors are given than there are";
        }
        for (const Reservation& reservation : plan.reservations) {
            ASSERT_TRUE(waiting.contains(reservation.id)) << "job " << reservation.id << " does not wait";
            ASSERT_TRUE(named.insert(reservation.id).second) << "job " << reservation.id << " is named twice";
            ASSERT_GE(reservation.at, zone.now);
            ASSERT_GE(reservation.latest, reservation.at);
        }
        ASSERT_EQ(which_.make()->plan(zone), plan) << "a fresh object plans otherwise";
    }

    ZoneState::Sharing sharing() const override { return watched_->sharing(); }
    Result<void> serves(std::int32_t processors) const override { return watched_->serves(processors); }

  private:
    PolicyCase which_;
    std::unique_ptr<Policy> watched_;
};

class PolicyContract : public testing::TestWithParam<PolicyCase> {};
INSTANTIATE_TEST_SUITE_P(, PolicyContract, testing::ValuesIn(test::policy_cases()),
                         [](const auto& tested) { return tested.param.label(); });

TEST_P(PolicyContract, EveryJobOfAFiniteWorkloadRunsOnceForItsRuntime) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        for (const EventRules rules : {EventRules::kBatched, EventRules::kReference}) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << (rules == EventRules::kBatched ? " batched" : ""));
            const Workload jobs = random_workload({.seed = seed});
            WatchedPolicy policy(GetParam());
            const Result<SimulationOutcome> outcome = simulate(jobs, policy, {.rules = rules});
            ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
            if (HasFatalFailure()) return;
            const bool undisturbed = policy.sharing() == ZoneState::Sharing::kSpace && outcome->interruptions.empty();
            std::map<Time, std::int32_t> change;
            for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
                ASSERT_GE(outcome->start[i], jobs.jobs[i].job.submit);
                if (undisturbed) {
                    ASSERT_EQ(outcome->end[i], outcome->start[i] + jobs.jobs[i].runtime);
                } else {
                    ASSERT_GE(outcome->end[i], outcome->start[i] + jobs.jobs[i].runtime);
                }
                change[outcome->start[i]] += jobs.jobs[i].job.processors;
                change[outcome->end[i]] -= jobs.jobs[i].job.processors;
            }
            if (!undisturbed) continue;
            std::int32_t busy = 0;
            for (const auto& [at, delta] : change)
                ASSERT_LE(busy += delta, jobs.processors) << "at " << at.time_since_epoch().count();
        }
    }
}

TEST_P(PolicyContract, EqualRunsAreEqual) {
    const Workload jobs = random_workload({.seed = 7, .jobs = 300});
    const Result<SimulationOutcome> first = simulate(jobs, *GetParam().make(), {});
    const Result<SimulationOutcome> second = simulate(jobs, *GetParam().make(), {});
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_EQ(first->start, second->start);
    EXPECT_EQ(first->plans, second->plans);
}

/// A zone where jobs are cancelled, preempted and overrun, and processors come and go.
TEST_P(PolicyContract, PlansStayValidThroughFaults) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        WatchedPolicy policy(GetParam());
        ZoneState zone({.processors = 32, .sharing = policy.sharing()});
        std::int32_t processors = 32;
        std::set<JobId> waiting, running;
        Time now{std::chrono::seconds{1}};
        std::int64_t next = 1;
        const auto any_of = [&rng](const std::set<JobId>& jobs) {
            return *std::next(jobs.begin(), static_cast<std::ptrdiff_t>(rng.below(jobs.size())));
        };
        for (int step = 0; step < 250; ++step) {
            if (rng.below(4) != 0) now += std::chrono::seconds{static_cast<int>(rng.below(20))};
            const std::uint64_t kind = rng.below(100);
            if (kind < 45) {
                const Job job{.id = JobId{next++},
                              .submit = now,
                              .walltime = std::chrono::seconds{1 + static_cast<int>(rng.below(80))},
                              .processors = static_cast<std::int32_t>(
                                  1 + rng.below(static_cast<std::uint64_t>(processors) / (rng.below(2) == 0 ? 1 : 4))),
                              .priority = static_cast<std::int32_t>(rng.below(4))};
                ASSERT_TRUE(zone.apply(now, JobSubmitted{job}).has_value());
                waiting.insert(job.id);
            } else if (kind < 80 && !running.empty()) {
                const JobId id = any_of(running);
                ASSERT_TRUE(zone.apply(now, JobEnded{id}).has_value());
                running.erase(id);
            } else if (kind < 86 && !waiting.empty()) {
                const JobId id = any_of(waiting);
                ASSERT_TRUE(zone.apply(now, JobWithdrawn{id}).has_value());
                waiting.erase(id);
            } else if (kind < 90 && !running.empty()) {
                const JobId id = any_of(running);
                ASSERT_TRUE(zone.apply(now, JobPreempted{id}).has_value());
                running.erase(id);
                waiting.insert(id);
            } else if (kind < 94) {
                const std::int32_t wanted = 16 << rng.below(2);
                if (zone.apply(now, ProcessorsChanged{wanted})) processors = wanted;
            } else {
                ASSERT_TRUE(zone.apply(now, ClockAdvanced{}).has_value());
            }
            const Plan plan = policy.Policy::plan(zone.snapshot());
            if (HasFatalFailure()) return;
            zone.changes_planned();
            if (rng.below(10) == 0) {  // the driver's store refused the plan
                zone.plan_refused();
                continue;
            }
            for (const JobId id : plan.preemptions) {
                ASSERT_TRUE(zone.apply(now, JobPreempted{id}).has_value());
                running.erase(id);
                waiting.insert(id);
            }
            for (const JobId id : plan.starts) {
                ASSERT_TRUE(zone.apply(now, JobStarted{id}).has_value());
                waiting.erase(id);
                running.insert(id);
            }
            if (!plan.shares.empty()) {
                const Result<void> changed = zone.apply(now, SharesChanged{plan.shares});
                ASSERT_TRUE(changed.has_value()) << changed.error().message;
            }
            if (plan.diagram) {
                const Result<void> changed = zone.apply(now, DiagramChanged{plan.diagram});
                ASSERT_TRUE(changed.has_value()) << changed.error().message;
            }
            if (plan.load) {
                ASSERT_TRUE(zone.apply(now, LoadFound{*plan.load}).has_value());
            }
            for (const Reservation& promise : plan.reservations)
                ASSERT_TRUE(zone.apply(now, JobReserved{promise.id, promise.at, promise.latest}).has_value());
        }
    }
}

}  // namespace
}  // namespace zbs
