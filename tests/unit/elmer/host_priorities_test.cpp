#include "algorithms/elmer/host_priorities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::elmer {
namespace {

using testing::ElementsAre;

TEST(HostPriorities, DaemonStandsRightAboveItsJob) {
    for (std::int32_t level = 0; level < VirtualClusters::kMaxDegree; ++level) {
        EXPECT_LT(job_priority(level), daemon_priority(level));
        EXPECT_LT(daemon_priority(level), level == 0 ? kServicePriority : job_priority(level - 1));
        EXPECT_GE(job_priority(level), 1);
    }
}

TEST(HostPriorities, JobsGoUpWhenOneAboveLeaves) {
    VirtualClusters table = *VirtualClusters::make({.hosts = 2, .degree = 3, .rule = AllocationRule::kLevels});
    table.place({.job = JobId{1}, .user = 10, .level = 0, .hosts = {0, 1}});
    table.place({.job = JobId{2}, .user = 20, .level = 1, .hosts = {0}});
    EXPECT_THAT(host_priorities(table, 0).jobs,
                ElementsAre(HostPriorities::Job{JobId{1}, 97}, HostPriorities::Job{JobId{2}, 95}));
    EXPECT_THAT(host_priorities(table, 0).daemons,
                ElementsAre(HostPriorities::Daemon{10, 98}, HostPriorities::Daemon{20, 96}));
    table.release(JobId{1});
    EXPECT_THAT(host_priorities(table, 0).jobs, ElementsAre(HostPriorities::Job{JobId{2}, 97}));
    EXPECT_THAT(host_priorities(table, 0).daemons, ElementsAre(HostPriorities::Daemon{20, 98}));
    EXPECT_TRUE(host_priorities(table, 1).daemons.empty()) << "its user's daemon is as it was before";
}

TEST(HostPriorities, DaemonOfTwoJobsStandsAboveTheHigherOne) {
    VirtualClusters table = *VirtualClusters::make({.hosts = 1, .degree = 3});
    for (const auto& [job, user] : {std::pair{1, 10}, {2, 20}, {3, 10}})
        table.place({.job = JobId{job}, .user = user, .hosts = {0}});
    EXPECT_THAT(host_priorities(table, 0).daemons,
                ElementsAre(HostPriorities::Daemon{10, 98}, HostPriorities::Daemon{20, 96}));
}

TEST(NiceLevel, IsAsFarFromTheNextAsCanBe) {
    EXPECT_EQ(nice_level(0, 1), 0);
    EXPECT_EQ(nice_level(0, 2), 0);
    EXPECT_EQ(nice_level(1, 2), 19);
    for (std::int32_t degree = 2; degree <= 16; ++degree) {
        EXPECT_EQ(nice_level(degree - 1, degree), kLowestNice);
        for (std::int32_t level = 1; level < degree; ++level)
            EXPECT_GT(nice_level(level, degree), nice_level(level - 1, degree)) << degree;
    }
}

}  // namespace
}  // namespace zbs::elmer
