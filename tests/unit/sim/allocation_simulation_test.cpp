#include "studies/models/allocation_simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/allocation/registry.hpp"

namespace zbs {
namespace {

std::unique_ptr<Allocator> machine(const std::string& name, int dimensions) {
    return std::move(*make_allocator(name, 1 << dimensions));
}
MeshOutcome run(const MeshWorkload& workload, const std::string& allocator, int dimensions) {
    return *simulate_meshes(*make_mesh_jobs(workload), *machine(allocator, dimensions));
}
MeshWorkload constant(double load) {
    return {.kind = MeshWorkload::Kind::kConstant,
            .service = MeshWorkload::Service::kConstant,
            .load = load,
            .jobs = 2'000};
}
MeshWorkload mixed(std::int32_t small, std::int32_t large, double share_of_small, double load) {
    return {.intervals = {{1, small, share_of_small}, {large, 32, 1 - share_of_small}}, .load = load, .jobs = 1'000};
}

TEST(MeshJobs, StreamsAreIndependentAndScaleWithTheLoad) {
    const MeshWorkload one = mixed(8, 17, .5, 1);
    MeshWorkload twice = one, larger = one;
    twice.load = 2;
    larger.intervals[1].least = 30;
    const auto a = *make_mesh_jobs(one), b = *make_mesh_jobs(twice), c = *make_mesh_jobs(larger);
    int large = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].service, b[i].service);
        EXPECT_EQ(a[i].mesh, b[i].mesh);
        EXPECT_NEAR(static_cast<double>(b[i].arrival.time_since_epoch().count()) * 2,
                    static_cast<double>(a[i].arrival.time_since_epoch().count()), 2);
        EXPECT_EQ(a[i].service, c[i].service);
        // Per mesh: both sides small or both large, the same jobs whatever the interval.
        EXPECT_EQ(a[i].mesh.x > 8, a[i].mesh.y > 8);
        EXPECT_EQ(a[i].mesh.x > 8, c[i].mesh.x > 8);
        large += a[i].mesh.x > 8 ? 1 : 0;
    }
    EXPECT_NEAR(large, 500, 80);
    MeshWorkload per_side = one;
    per_side.selector = MeshWorkload::Selector::kPerSide;
    int both = 0;
    const auto sides = *make_mesh_jobs(per_side);
    for (const MeshJob& job : sides) both += (job.mesh.x > 8) == (job.mesh.y > 8) ? 1 : 0;
    EXPECT_NEAR(both, 500, 80);
}

TEST(MeshJobs, BadWorkloadsAreRefused) {
    EXPECT_FALSE(make_mesh_jobs({.intervals = {{1, 8, .4}, {9, 32, .5}}}));
    EXPECT_FALSE(make_mesh_jobs({.intervals = {}}));
    EXPECT_FALSE(make_mesh_jobs({.intervals = {{0, 8, 1}}}));
    EXPECT_FALSE(make_mesh_jobs({.intervals = {{9, 8, 1}}}));
    EXPECT_FALSE(make_mesh_jobs({.intervals = {{1, 8, 1}}, .load = -1}));
    EXPECT_FALSE(make_mesh_jobs({.intervals = {{1, 8, 1}}, .jobs = 0}));
    EXPECT_FALSE(make_mesh_jobs({.intervals = {{1, 8, 1}}, .mean_service_s = 0}));
    const auto refused = simulate_meshes({{.service = Duration{1}, .mesh = {33, 17}}}, *machine("afl", 10));
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, testing::HasSubstr("mesh job 1: a 33x17 mesh needs a cube of 11 dimensions"));
}

TEST(SimulateMeshes, HeadOfTheQueueBlocks) {
    using namespace std::chrono_literals;
    const std::vector<MeshJob> jobs{{Time{0s}, 10s, {2, 2}}, {Time{1s}, 5s, {2, 4}}, {Time{2s}, 1s, {1, 1}}};
    const MeshOutcome outcome = *simulate_meshes(jobs, *machine("free-list", 3));
    EXPECT_THAT(outcome.start, testing::ElementsAre(Time{0s}, Time{10s}, Time{15s}));
    EXPECT_DOUBLE_EQ(outcome.turnaround_s, (10 + 14 + 14) / 3.0);
}

/// [Turner1995, figure 4.1] on a 6-cube with constant service.
TEST(SimulateMeshes, ConstantWorkloadSaturatesAtExactlyHalfAndAtTheWholeMachine) {
    const MeshOutcome list = run(constant(0), "free-list", 6), afl = run(constant(0), "afl", 6);
    EXPECT_DOUBLE_EQ(list.jobs_in_service, 2);
    EXPECT_DOUBLE_EQ(list.utilization_started, .5);
    EXPECT_DOUBLE_EQ(afl.jobs_in_service, 4);
    EXPECT_DOUBLE_EQ(afl.utilization_started, 1);
}

TEST(SimulateMeshes, BelowSaturationUtilizationIsLoadTimesMeanSize) {
    for (const std::string allocator : {"free-list", "afl"}) {
        for (const double load : {.5, 1.0, 1.5}) {
            MeshWorkload workload = constant(load);
            workload.jobs = 20'000;
            EXPECT_NEAR(run(workload, allocator, 6).utilization, load * 16 / 64, .01) << allocator << " " << load;
        }
    }
}

/// The large job takes the whole 10-cube, whichever of these intervals it comes from.
TEST(SimulateMeshes, PlainFreeListTurnaroundDoesNotDependOnLargeSides) {
    for (const double load : {.6, 1.0}) {
        const MeshOutcome of_17 = run(mixed(8, 17, .5, load), "free-list", 10);
        for (const std::int32_t least : {20, 25, 28, 30}) {
            const MeshOutcome other = run(mixed(8, least, .5, load), "free-list", 10);
            EXPECT_EQ(other.start, of_17.start);
            EXPECT_EQ(other.end, of_17.end);
            EXPECT_GT(other.utilization, of_17.utilization);
        }
    }
}

TEST(SimulateMeshes, PairwiseCoalescingLeavesTheHeadWaitingForEver) {
    const auto jobs = *make_mesh_jobs({.intervals = {{1, 3, .75}, {4, 8, .25}}, .load = 0, .jobs = 3'000});
    EXPECT_TRUE(simulate_meshes(jobs, *machine("free-list", 6)).has_value());
    const auto stuck = simulate_meshes(jobs, **make_allocator("free-list", 64, {{"coalescing", "pairwise"}}));
    ASSERT_FALSE(stuck.has_value());
    EXPECT_EQ(stuck.error().code, ErrorCode::kRejected);
    EXPECT_THAT(stuck.error().message, testing::HasSubstr("waits for ever"));
}

}  // namespace
}  // namespace zbs
