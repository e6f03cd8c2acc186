#include "algorithms/elmer/virtual_clusters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace zbs::elmer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSubsetOf;

constexpr std::array kRules{AllocationRule::kLevels, AllocationRule::kUnloaded, AllocationRule::kArrival,
                            AllocationRule::kOneCluster};

VirtualClusters clusters(const VirtualClusters::Options& options) { return *VirtualClusters::make(options); }

VirtualClusters::Request job(int id, std::int32_t processors) {
    return {.job = JobId{id}, .user = id, .processors = processors};
}

std::vector<JobId> jobs_on(const VirtualClusters& table, std::int32_t host) {
    std::vector<JobId> jobs;
    for (const VirtualClusters::Slot& slot : table.on_host(host)) jobs.push_back(slot.job);
    return jobs;
}

std::string refusal(const VirtualClusters::Options& options) {
    const Result<VirtualClusters> made = VirtualClusters::make(options);
    EXPECT_FALSE(made.has_value());
    return made ? "" : made.error().message;
}

TEST(VirtualClusters, RefusesOptionsOutOfRangeAndSaysWhatToWrite) {
    EXPECT_THAT(refusal({.hosts = 0}), HasSubstr("needs a host"));
    EXPECT_THAT(refusal({.degree = 0}), HasSubstr("1 for space sharing"));
    EXPECT_THAT(refusal({.degree = 49}), HasSubstr("1 to 48"));
    EXPECT_THAT(refusal({.threshold = 1.1}), HasSubstr("write 0.8"));
    EXPECT_THAT(refusal({.threshold = -0.1}), HasSubstr("0 to 1"));
    EXPECT_THAT(refusal({.threshold = std::nan("")}), HasSubstr("0 to 1"));
}

TEST(VirtualClusters, DegreeOneIsSpaceSharing) {  // claim 29
    for (const AllocationRule rule : kRules) {
        VirtualClusters table = clusters({.hosts = 6, .degree = 1, .rule = rule});
        Rng rng(1);
        EXPECT_TRUE(table.allocate(job(1, 4), {}, rng));
        EXPECT_FALSE(table.allocate(job(2, 3), {}, rng));
        EXPECT_TRUE(table.allocate(job(3, 2), {}, rng));
        EXPECT_FALSE(table.allocate(job(4, 1), {}, rng));
        EXPECT_TRUE(table.release(JobId{1}));
        EXPECT_TRUE(table.allocate(job(4, 4), {}, rng));
    }
}

/// The first level with n usable slots, by looking at all of them.
std::int32_t lowest_level(const VirtualClusters& table, std::int32_t n, std::span<const double> utilization) {
    for (std::int32_t level = 0; level < table.options().degree; ++level) {
        std::int32_t usable = 0;
        for (std::int32_t host = 0; host < table.options().hosts; ++host) {
            const bool quiet = utilization.empty() || utilization[static_cast<std::size_t>(host)] <= 0.8;
            usable += table.at(level, host).job.value < 0 && quiet ? 1 : 0;
        }
        if (usable >= n) return level;
    }
    return -1;
}

TEST(VirtualClusters, SourcesRulesTakeTheLowestLevelWithEnoughHostsOrNone) {  // claims 30 and 31
    for (const bool loaded : {false, true}) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            SCOPED_TRACE(seed);
            Rng rng(seed);
            VirtualClusters table = clusters(
                {.hosts = 12, .degree = 3, .rule = loaded ? AllocationRule::kUnloaded : AllocationRule::kLevels});
            std::vector<Cluster> live;
            for (int id = 0; id < 100; ++id) {
                std::vector<double> utilization;
                for (int host = 0; loaded && host < 12; ++host) utilization.push_back(rng.uniform());
                if (!live.empty() && rng.below(2) == 0) {
                    std::swap(live[rng.below(live.size())], live.back());
                    ASSERT_TRUE(table.release(live.back().job));
                    live.pop_back();
                }
                const auto n = static_cast<std::int32_t>(1 + rng.below(8));
                const std::int32_t level = lowest_level(table, n, utilization);
                const std::int64_t before = table.slots_examined();
                const std::optional<Cluster> cluster = table.allocate(job(id, n), utilization, rng);
                EXPECT_LE(table.slots_examined() - before, 3 * 12);
                ASSERT_EQ(cluster.has_value(), level >= 0);
                if (!cluster) continue;
                ASSERT_EQ(cluster->level, level);
                ASSERT_EQ(cluster->hosts.size(), static_cast<std::size_t>(n));
                for (const std::int32_t host : cluster->hosts) {
                    ASSERT_EQ(table.at(level, host).job, JobId{id});
                    if (loaded) {
                        ASSERT_LE(utilization[static_cast<std::size_t>(host)], 0.8);
                    }
                }
                live.push_back(*cluster);
            }
        }
    }
}

TEST(VirtualClusters, ThresholdAboveAllReadingsIsVersion1) {  // claim 29
    Rng levels_rng(5), unloaded_rng(5), readings(6);
    VirtualClusters levels = clusters({.hosts = 8, .rule = AllocationRule::kLevels});
    VirtualClusters unloaded = clusters({.hosts = 8, .rule = AllocationRule::kUnloaded, .threshold = 1});
    for (int id = 0; id < 200; ++id) {
        std::vector<double> utilization(8);
        for (double& u : utilization) u = readings.uniform();
        const auto n = static_cast<std::int32_t>(1 + readings.below(8));
        ASSERT_EQ(levels.allocate(job(id, n), utilization, levels_rng),
                  unloaded.allocate(job(id, n), utilization, unloaded_rng));
        if (id >= 2) {
            ASSERT_EQ(levels.release(JobId{id - 2}), unloaded.release(JobId{id - 2}));
        }
    }
}

TEST(VirtualClusters, HostsAreDrawnFromAll) {
    std::map<std::vector<std::int32_t>, int> drawn;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        Rng rng(seed);
        ++drawn[clusters({.hosts = 4}).allocate(job(1, 2), {}, rng)->hosts];
    }
    EXPECT_EQ(drawn.size(), 6u);
    for (const auto& [hosts, count] : drawn) EXPECT_NEAR(count, 100, 40);
}

/// Job 1 on four of six hosts, job 2 wants four, job 3 wants two. Whether job 3 then stands above job 2 anywhere.
bool later_job_outranks(AllocationRule rule, std::uint64_t seed) {
    VirtualClusters table = clusters({.hosts = 6, .rule = rule});
    Rng rng(seed);
    for (const auto& wanted : {job(1, 4), job(2, 4), job(3, 2)}) table.allocate(wanted, {}, rng);
    for (std::int32_t host = 0; host < 6; ++host) {
        const std::vector<JobId> jobs = jobs_on(table, host);
        if (!std::ranges::is_sorted(jobs)) return true;
    }
    return false;
}

TEST(VirtualClusters, Version1LetsALaterJobOutrankAnEarlierOneAndArrivalDoesNot) {  // claim 33
    int outranked = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        outranked += later_job_outranks(AllocationRule::kLevels, seed) ? 1 : 0;
        EXPECT_FALSE(later_job_outranks(AllocationRule::kArrival, seed));
    }
    // Job 2 avoids both idle hosts in one of 15 draws.
    EXPECT_GT(outranked, 80);
    EXPECT_LT(outranked, 100);
}

TEST(VirtualClusters, ByArrivalTheOldestIsOnTopAndTheNextFollows) {  // claim 33
    for (const AllocationRule rule : {AllocationRule::kArrival, AllocationRule::kOneCluster}) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            SCOPED_TRACE(seed);
            Rng rng(seed);
            VirtualClusters table = clusters({.hosts = 8, .degree = 3, .rule = rule});
            std::vector<JobId> live;
            for (int id = 0; id < 100; ++id) {
                if (!live.empty() && rng.below(2) == 0) {
                    std::swap(live[rng.below(live.size())], live.back());
                    const JobId leaves = live.back();
                    live.pop_back();
                    std::vector<std::vector<JobId>> expected;
                    for (std::int32_t host = 0; host < 8; ++host) {
                        expected.push_back(jobs_on(table, host));
                        std::erase(expected.back(), leaves);
                    }
                    ASSERT_TRUE(table.release(leaves));
                    for (std::int32_t host = 0; host < 8; ++host)
                        ASSERT_EQ(jobs_on(table, host), expected[static_cast<std::size_t>(host)]);
                }
                if (table.allocate(job(id, static_cast<std::int32_t>(1 + rng.below(8))), {}, rng))
                    live.emplace_back(id);
                for (std::int32_t host = 0; host < 8; ++host) {
                    const std::vector<JobId> jobs = jobs_on(table, host);
                    ASSERT_TRUE(std::ranges::is_sorted(jobs));
                    if (!jobs.empty()) {
                        ASSERT_EQ(table.top(host).job, jobs.front());
                        ASSERT_EQ(table.at(0, host).job, jobs.front()) << "a job did not move up";
                    }
                }
            }
        }
    }
}

TEST(VirtualClusters, OldJobThatComesBackStandsAboveYoungerOnes) {
    VirtualClusters table = clusters({.hosts = 2, .degree = 3});
    table.place({.job = JobId{1}, .hosts = {0, 1}});
    table.place({.job = JobId{3}, .hosts = {0}});
    table.place({.job = JobId{2}, .hosts = {0}});
    EXPECT_THAT(jobs_on(table, 0), ElementsAre(JobId{1}, JobId{2}, JobId{3}));
}

TEST(VirtualClusters, OneClusterSparesBarrierHostsAndCrossesNoTwoJobs) {
    VirtualClusters table = clusters({.hosts = 6, .rule = AllocationRule::kOneCluster});
    Rng rng(3);
    table.place({.job = JobId{1}, .hosts = {0, 1, 2}});
    table.place({.job = JobId{2}, .hosts = {3, 4, 5}});
    EXPECT_FALSE(table.allocate(job(3, 3), {}, rng)) << "three hosts beside barrier processes are of two jobs";
    const std::optional<Cluster> low = table.allocate(job(3, 2), {}, rng);
    ASSERT_TRUE(low);
    EXPECT_THAT(low->hosts, testing::AnyOf(ElementsAre(1, 2), ElementsAre(4, 5)));
    table.release(JobId{2});
    table.release(JobId{3});
    const std::optional<Cluster> idle = table.allocate(job(4, 3), {}, rng);
    ASSERT_TRUE(idle);
    EXPECT_THAT(idle->hosts, ElementsAre(3, 4, 5)) << "idle hosts come first";
}

TEST(VirtualClusters, OneClusterFillsUpIdleHostsFromOneOtherJob) {
    VirtualClusters table = clusters({.hosts = 6, .rule = AllocationRule::kOneCluster});
    Rng rng(3);
    table.place({.job = JobId{1}, .hosts = {0, 1, 2, 3}});
    const std::optional<Cluster> low = table.allocate(job(2, 4), {}, rng);
    ASSERT_TRUE(low);
    EXPECT_EQ(low->level, 1);
    EXPECT_THAT(low->hosts, IsSubsetOf({1, 2, 3, 4, 5}));
    EXPECT_THAT((std::vector<std::int32_t>{4, 5}), IsSubsetOf(low->hosts));
}

TEST(VirtualClusters, ReleasingWhoIsNotThereChangesNothing) {
    VirtualClusters table = clusters({.hosts = 2});
    table.place({.job = JobId{1}, .hosts = {0}});
    EXPECT_FALSE(table.release(JobId{2}));
    EXPECT_THAT(jobs_on(table, 0), ElementsAre(JobId{1}));
}

}  // namespace
}  // namespace zbs::elmer
