#include "studies/models/job_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace zbs::elmer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobService service(const VirtualClusters::Options& clusters, std::int32_t most_running = ExitCodes::kMaxSlots) {
    return *JobService::make({.clusters = clusters, .most_running = most_running});
}

JobService::Submitted submit(JobService& elmer, std::int32_t processors, std::span<const double> utilization = {}) {
    return *elmer.submit({.processors = processors, .user = 1, .command = "a.out"}, utilization);
}

std::vector<std::int64_t> started(const std::vector<Start>& starts) {
    std::vector<std::int64_t> jobs;
    for (const Start& start : starts) jobs.push_back(start.cluster.job.value);
    return jobs;
}

TEST(JobService, StartsWhenTheQueueIsEmptyAndHostsAreFree) {
    JobService elmer = service({.hosts = 4, .degree = 1});
    const JobService::Submitted first = submit(elmer, 3);
    ASSERT_THAT(started(first.starts), ElementsAre(1));
    EXPECT_EQ(first.starts[0].exit_status, 101);
    EXPECT_EQ(first.starts[0].command, "a.out");
    EXPECT_EQ(elmer.running()[0], first.starts[0].cluster);
}

TEST(JobService, HeadBlocksAllBehindIt) {  // claim 32
    JobService elmer = service({.hosts = 4, .degree = 1});
    submit(elmer, 3);
    EXPECT_THAT(submit(elmer, 2).starts, IsEmpty());
    EXPECT_THAT(submit(elmer, 1).starts, IsEmpty()) << "a host is free, but job 2 waits";
    const Exit exit = elmer.child_exited(101, {});
    EXPECT_EQ(exit.ended->job, JobId{1});
    EXPECT_THAT(started(exit.starts), ElementsAre(2, 3)) << "all that fit, not one";
    EXPECT_TRUE(elmer.waiting().empty());
}

TEST(JobService, CancelledHeadLetsOthersGo) {
    JobService elmer = service({.hosts = 4, .degree = 1});
    submit(elmer, 3);
    submit(elmer, 4);
    submit(elmer, 1);
    ASSERT_TRUE(elmer.cancel(JobId{2}));
    EXPECT_THAT(started(elmer.start_waiting({})), ElementsAre(3));
}

TEST(JobService, KillFreesThroughTheExit) {  // claim 34
    JobService elmer = service({.hosts = 4, .degree = 1});
    const Cluster cluster = submit(elmer, 2).starts[0].cluster;
    const Result<std::vector<std::int32_t>> hosts = elmer.kill(JobId{1});
    ASSERT_TRUE(hosts);
    EXPECT_EQ(*hosts, cluster.hosts);
    EXPECT_EQ(elmer.running().size(), 1u) << "its processes still run";
    EXPECT_EQ(elmer.child_exited(101, {}).ended, cluster);
    EXPECT_TRUE(elmer.running().empty());
    EXPECT_EQ(submit(elmer, 4).starts.size(), 1u);
}

TEST(JobService, UnknownJobsAreErrorsThatNameTheOtherCommand) {  // claim 34
    JobService elmer = service({.hosts = 2, .degree = 1});
    submit(elmer, 2);
    submit(elmer, 2);
    for (const auto& [result, says] :
         {std::pair{elmer.cancel(JobId{1}), "can be killed"}, {elmer.cancel(JobId{9}), "9"}}) {
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
        EXPECT_THAT(result.error().message, HasSubstr(says));
    }
    for (const auto& [job, says] : {std::pair{JobId{2}, "can be cancelled"}, {JobId{9}, "9"}}) {
        const Result<std::vector<std::int32_t>> killed = elmer.kill(job);
        ASSERT_FALSE(killed.has_value());
        EXPECT_EQ(killed.error().code, ErrorCode::kNotFound);
        EXPECT_THAT(killed.error().message, HasSubstr(says));
    }
}

TEST(JobService, HelpersThatExitChangeNothing) {  // claim 35
    JobService elmer = service({.hosts = 2, .degree = 1});
    submit(elmer, 2);
    submit(elmer, 2);
    for (const int status : {0, 1, 102, 255}) {
        const Exit exit = elmer.child_exited(status, {});
        EXPECT_FALSE(exit.ended);
        EXPECT_THAT(exit.starts, IsEmpty());
    }
    EXPECT_EQ(elmer.running().size(), 1u);
}

TEST(JobService, RefusesBadRequestsAndOptions) {
    JobService elmer = service({.hosts = 2});
    for (const JobRequest& bad :
         {JobRequest{.processors = 0, .user = 1}, {.processors = 3, .user = 1}, {.processors = 1}})
        EXPECT_FALSE(elmer.submit(bad, {}).has_value());
    EXPECT_EQ(submit(elmer, 1).job, JobId{1}) << "a refused request takes no number";
    EXPECT_FALSE(JobService::make({.clusters = {.degree = 0}}).has_value());
    for (const int slots : {0, 150, 157}) EXPECT_FALSE(JobService::make({.most_running = slots}).has_value());
}

TEST(JobService, NoMoreJobsRunThanThereAreExitStatuses) {
    JobService elmer = service({.hosts = 10, .degree = 1}, 3);
    for (int i = 0; i < 5; ++i) submit(elmer, 1);
    EXPECT_EQ(elmer.running().size(), 3u);
    EXPECT_THAT(started(elmer.child_exited(102, {}).starts), ElementsAre(4));
}

TEST(JobService, HostsThatBecomeIdleWithoutAnExitAreFoundByNewReadings) {
    JobService elmer = service({.hosts = 2});
    const std::vector<double> loaded{0.9, 0.2}, idle{0.1, 0.2};
    EXPECT_THAT(submit(elmer, 2, loaded).starts, IsEmpty());
    EXPECT_THAT(elmer.start_waiting(loaded), IsEmpty());
    EXPECT_THAT(started(elmer.start_waiting(idle)), ElementsAre(1));
}

TEST(JobService, EveryJobRunsOnceInTheOrderOfArrival) {
    for (const AllocationRule rule :
         {AllocationRule::kLevels, AllocationRule::kUnloaded, AllocationRule::kArrival, AllocationRule::kOneCluster}) {
        for (std::uint64_t seed = 0; seed < 30; ++seed) {
            SCOPED_TRACE(seed);
            Rng rng(seed);
            JobService elmer = service({.hosts = 6, .degree = 2, .rule = rule}, 7);
            std::vector<std::int64_t> order;
            std::set<int> statuses;
            const auto take = [&](const std::vector<Start>& starts) {
                for (const Start& start : starts) {
                    order.push_back(start.cluster.job.value);
                    EXPECT_TRUE(statuses.insert(start.exit_status).second) << "two jobs with one status";
                }
            };
            for (int step = 0; step < 300; ++step) {
                if (rng.below(2) == 0 && step < 200) {
                    take(submit(elmer, static_cast<std::int32_t>(1 + rng.below(6))).starts);
                } else if (!statuses.empty()) {
                    const int status = *std::next(statuses.begin(), static_cast<int>(rng.below(statuses.size())));
                    statuses.erase(status);
                    take(elmer.child_exited(status, {}).starts);
                }
            }
            ASSERT_TRUE(elmer.waiting().empty());
            for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], static_cast<std::int64_t>(i + 1));
        }
    }
}

}  // namespace
}  // namespace zbs::elmer
