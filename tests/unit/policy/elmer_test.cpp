#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/support/zones.hpp"

// Elmer as a queue policy: whole schedules traced by hand.
namespace zbs {
namespace {

using namespace std::chrono_literals;
using test::workload;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Schedule {
    std::vector<int> start, end;
};
Schedule schedule(const PolicyOptions& options, const Workload& jobs) {
    const Result<SimulationOutcome> outcome = simulate(jobs, **make_policy("elmer", options), {});
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
    Schedule result;
    const auto whole_seconds = [](Time at) {
        return static_cast<int>(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
    };
    for (const Time at : outcome->start) result.start.push_back(whole_seconds(at));
    for (const Time at : outcome->end) result.end.push_back(whole_seconds(at));
    return result;
}

const PolicyOptions kStacking{{"threshold", "1"}};

TEST(Elmer, LowerJobGetsWhatTheHigherLeaves) {
    // Job 2 is placed at once below job 1, and waits there.
    const Schedule both = schedule(kStacking, workload(4, {{0, 4, 25}, {5, 2, 10}}));
    EXPECT_THAT(both.start, ElementsAre(0, 5));
    EXPECT_THAT(both.end, ElementsAre(25, 35));
}

TEST(Elmer, JobsBesideEachOtherBothRun) {
    EXPECT_THAT(schedule(kStacking, workload(4, {{0, 2, 25}, {5, 2, 10}})).end, ElementsAre(25, 15));
}

TEST(Elmer, DegreeLimitsTheJobsOfAProcessor) {
    const Workload jobs = workload(2, {{0, 2, 10}, {0, 2, 10}, {0, 2, 10}});
    EXPECT_THAT(schedule(kStacking, jobs).start, ElementsAre(0, 0, 10));
    EXPECT_THAT(schedule({{"degree", "3"}, {"threshold", "1"}}, jobs).start, ElementsAre(0, 0, 0));
    EXPECT_THAT(schedule({{"degree", "3"}, {"threshold", "1"}}, jobs).end, ElementsAre(10, 20, 30));
}

TEST(Elmer, BusyProcessorsGetNoFurtherJobBelowTheThreshold) {
    const Workload jobs = workload(2, {{0, 2, 10}, {0, 2, 10}});
    EXPECT_THAT(schedule({}, jobs).start, ElementsAre(0, 10));
    EXPECT_THAT(schedule({{"rule", "v2"}}, jobs).start, ElementsAre(0, 10));
    EXPECT_THAT(schedule({{"rule", "v1"}}, jobs).start, ElementsAre(0, 0)) << "version 1 looks at no reading";
}

TEST(Elmer, AloneOnItsProcessorsEveryJobStartsAsUnderFcfs) {  // claim 29
    std::vector<PolicyOptions> alone;
    for (const std::string rule : {"v1", "v2", "corrected", "x"}) alone.push_back({{"degree", "1"}, {"rule", rule}});
    // Jobs that run leave nothing, so a threshold below 1 keeps all others away.
    for (const std::string rule : {"v2", "corrected", "x"}) alone.push_back({{"degree", "3"}, {"rule", rule}});
    for (const PolicyOptions& options : alone)
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            SCOPED_TRACE(seed);
            const Workload jobs = test::random_workload({.seed = seed});
            const Result<SimulationOutcome> elmer = simulate(jobs, **make_policy("elmer", options), {});
            const Result<SimulationOutcome> fcfs = simulate(jobs, **make_policy("fcfs"), {});
            ASSERT_TRUE(elmer.has_value() && fcfs.has_value());
            ASSERT_EQ(elmer->start, fcfs->start);
            ASSERT_EQ(elmer->end, fcfs->end);
        }
}

/// Job 1 on four of six processors, job 2 asks for four, job 3 later for two.
const Workload& passing() {
    static const Workload jobs = workload(6, {{0, 4, 100}, {0, 4, 100}, {1, 2, 500}});
    return jobs;
}

TEST(Elmer, Version1LetsALaterJobDelayAnEarlierOne) {  // claim 33
    int delayed = 0;
    for (int seed = 0; seed < 30; ++seed) {
        const PolicyOptions options{{"rule", "v1"}, {"seed", std::to_string(seed)}};
        delayed += schedule(options, passing()).end[1] > 200 ? 1 : 0;
    }
    EXPECT_GT(delayed, 20);
}

TEST(Elmer, ByArrivalNoLaterJobDelaysAnEarlierOne) {  // claim 33
    for (int seed = 0; seed < 30; ++seed) {
        const PolicyOptions options{{"threshold", "1"}, {"seed", std::to_string(seed)}};
        EXPECT_EQ(schedule(options, passing()).end[1], 200);
    }
}

TEST(Elmer, ByArrivalTheOldestJobAlwaysRuns) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(seed);
        const Workload jobs = test::random_workload({.seed = seed, .gap = 6});
        const auto outcome = simulate(jobs, **make_policy("elmer", {{"degree", "3"}, {"threshold", "1"}}), {});
        ASSERT_TRUE(outcome.has_value());
        // What is older than a job takes as long as all of it one by one, at most.
        Time done{};
        for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
            done = std::max(done, jobs.jobs[i].job.submit) + jobs.jobs[i].runtime;
            ASSERT_LE(outcome->end[i], done);
        }
    }
}

TEST(Elmer, SeedDecidesAmongProcessorsThatAreAsGood) {
    const Workload jobs = test::random_workload({.seed = 4, .jobs = 200, .gap = 6});
    const auto ends = [&](const char* seed) {
        return schedule({{"rule", "v1"}, {"degree", "3"}, {"seed", seed}}, jobs).end;
    };
    EXPECT_EQ(ends("1"), ends("1"));
    EXPECT_NE(ends("1"), ends("2"));
}

TEST(Elmer, RefusesOptionsOutOfRangeAndSaysWhatCanBe) {
    const auto refusal = [](const std::string& option, const std::string& value) {
        const auto policy = make_policy("elmer", {{option, value}});
        EXPECT_FALSE(policy.has_value());
        return policy ? "" : policy.error().message;
    };
    EXPECT_THAT(refusal("degree", "0"), AllOf(HasSubstr("degree"), HasSubstr("1 to 48")));
    EXPECT_THAT(refusal("degree", "49"), HasSubstr("1 to 48"));
    EXPECT_THAT(refusal("threshold", "1.01"), AllOf(HasSubstr("threshold"), HasSubstr("0 to 1")));
    EXPECT_THAT(refusal("threshold", "-0.01"), HasSubstr("0 to 1"));
    EXPECT_THAT(refusal("rule", "v3"), AllOf(HasSubstr("rule"), HasSubstr("v1")));
}

TEST(Elmer, SharesProcessorsByRank) {
    const std::unique_ptr<Policy> policy = *make_policy("elmer");
    EXPECT_EQ(policy->sharing(), ZoneState::Sharing::kPriority);
    EXPECT_FALSE(policy->serves(TraceDiagram::kMaxProcessors + 1).has_value());
}

}  // namespace
}  // namespace zbs
