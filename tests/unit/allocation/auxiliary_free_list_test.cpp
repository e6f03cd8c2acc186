#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/allocation/hypercube_allocators.hpp"
#include "studies/models/ecube.hpp"

namespace zbs {
namespace {

using Deallocation = AuxiliaryFreeList::Deallocation;

/// A machine whose jobs go by letters.
class Machine {
  public:
    explicit Machine(int dimensions, Deallocation deallocation = Deallocation::kOwnerAware)
        : afl_({.dimensions = dimensions, .deallocation = deallocation}) {}
    /// The job's host as text, "waits" where it has none.
    std::string start(char job, MeshShape shape) {
        const Result<const Placement*> placed = afl_.allocate(JobId{job}, mesh_request(shape));
        if (!placed) return placed.error().message;
        if (*placed == nullptr) return "waits";
        return to_string(afl_.clusters().at(JobId{job}).host, afl_.dimensions());
    }
    void finish(char job) { ASSERT_TRUE(afl_.release(JobId{job}).has_value()); }
    std::vector<std::vector<NodeIndex>> clusters() const {
        std::vector<std::vector<NodeIndex>> out;
        for (const auto& [id, placement] : afl_.placements()) out.push_back(placement.nodes);
        return out;
    }
    const AuxiliaryFreeList& afl() const { return afl_; }

  private:
    AuxiliaryFreeList afl_;
};

TEST(AuxiliaryFreeList, TwentyByThirtyLeavesRoomForFourMoreMeshes) {
    Machine machine(10);
    EXPECT_EQ(machine.start('a', {20, 30}), "**********");
    EXPECT_EQ(machine.start('b', {16, 16}), "10********");
    EXPECT_EQ(machine.start('c', {8, 16}), "111*******");
    EXPECT_EQ(machine.start('d', {4, 8}), "0****1000*");
    EXPECT_EQ(machine.start('e', {2, 4}), "110**1000*");
    EXPECT_EQ(machine.afl().free_processors(), 0);
    EXPECT_EQ(machine.start('f', {1, 1}), "waits");
    EXPECT_EQ(find_contention(machine.clusters()), std::nullopt);
    for (const char job : {'c', 'a', 'e', 'b', 'd'}) machine.finish(job);
    EXPECT_EQ(machine.afl().free_list().lists().back(), std::vector<Cube>{whole_cube(10)});
}

TEST(AuxiliaryFreeList, FiveByFiveLeavesRoomForFourByFourOnly) {
    Machine machine(6);
    EXPECT_EQ(machine.start('a', {5, 5}), "******");
    EXPECT_EQ(machine.start('b', {4, 5}), "waits");
    EXPECT_EQ(machine.start('c', {4, 4}), "10****");
}

TEST(AuxiliaryFreeList, AMeshInAFourCubeMakesAnotherWait) {
    Machine machine(4);
    EXPECT_EQ(machine.start('a', {2, 5}), "****");
    EXPECT_EQ(machine.start('b', {2, 3}), "waits");
    EXPECT_EQ(machine.start('c', {2, 2}), "*10*");
    EXPECT_EQ(machine.start('d', {1, 2}), "*111");
}

TEST(AuxiliaryFreeList, PairsOfTheConstantWorkloadShareAFiveCube) {
    Machine machine(5);
    EXPECT_EQ(machine.start('a', {4, 6}), "*****");
    EXPECT_EQ(machine.start('b', {4, 2}), "**10*");
    EXPECT_EQ(machine.afl().free_processors(), 0);

    // Whole subcubes: the second job needs another one, and a third waits although half the nodes idle.
    FreeListCubes list({.dimensions = 6});
    for (const auto& [id, shape] : {std::pair{1, MeshShape{4, 6}}, std::pair{2, MeshShape{4, 2}}})
        ASSERT_NE(*list.allocate(JobId{id}, mesh_request(shape)), nullptr);
    EXPECT_EQ(list.free_processors(), 64 - 32 - 8);
    EXPECT_EQ(*list.allocate(JobId{3}, mesh_request({4, 6})), nullptr);
}

/// The rule as printed gives a job the nodes between two leftovers of a running mesh.
class TwoLeftovers : public testing::TestWithParam<Deallocation> {};
INSTANTIATE_TEST_SUITE_P(, TwoLeftovers, testing::Values(Deallocation::kOwnerAware, Deallocation::kLiteral),
                         [](const auto& tested) {
                             return tested.param == Deallocation::kLiteral ? "Literal" : "OwnerAware";
                         });

TEST_P(TwoLeftovers, AreMergedByTheLiteralRuleOnly) {
    Machine machine(4, GetParam());
    EXPECT_EQ(machine.start('m', {5, 2}), "****");
    EXPECT_EQ(machine.start('a', {1, 2}), "111*");
    EXPECT_EQ(machine.start('b', {1, 2}), "100*");
    EXPECT_EQ(machine.start('c', {1, 2}), "101*");
    machine.finish('a');
    machine.finish('c');
    if (GetParam() == Deallocation::kOwnerAware) {
        EXPECT_EQ(machine.start('e', {2, 2}), "waits");
        machine.finish('b');
        EXPECT_EQ(machine.start('e', {2, 2}), "10**") << "one leftover, whole again";
        EXPECT_EQ(find_contention(machine.clusters()), std::nullopt);
        return;
    }
    EXPECT_EQ(machine.start('e', {2, 2}), "1*1*");
    const std::vector<Channel> mesh = ecube_channels(machine.afl().placements().at(JobId{'m'}).nodes);
    std::vector<Channel> shared;
    for (const Channel& channel : ecube_channels(machine.afl().placements().at(JobId{'e'}).nodes))
        if (std::ranges::binary_search(mesh, channel)) shared.push_back(channel);
    EXPECT_EQ(shared, (std::vector<Channel>{{0b1110, 0b1010}, {0b1111, 0b1011}}));
    EXPECT_TRUE(ecube_uses(0b1100, 0b0010, {0b1110, 0b1010}));
}

/// A mesh inside a leftover ends before its own tenant: the tenant's nodes still belong to the outer mesh's leftover.
TEST(AuxiliaryFreeList, TenantsOfATenantStayWithTheOuterMesh) {
    Machine machine(6);
    EXPECT_EQ(machine.start('m', {5, 5}), "******");
    EXPECT_EQ(machine.start('t', {3, 3}), "10****");
    EXPECT_EQ(machine.start('u', {2, 2}), "1010**") << "in a leftover of t";
    machine.finish('t');
    EXPECT_EQ(machine.afl().clusters().at(JobId{'u'}).owner, JobId{'m'});
    machine.finish('u');
    for (const std::vector<Cube>& list : machine.afl().free_list().lists()) EXPECT_TRUE(list.empty());
    EXPECT_EQ(machine.start('v', {4, 4}), "10****");
    machine.finish('m');
    EXPECT_EQ(machine.afl().clusters().at(JobId{'v'}).owner, JobId{});
    machine.finish('v');
    EXPECT_EQ(machine.afl().free_list().lists().back(), std::vector<Cube>{whole_cube(6)});
}

/// Were the nodes of z and x free for all once t and w have gone, they would make 1*110*, across two leftovers of m.
TEST(AuxiliaryFreeList, TenantsOfTenantsAreNotMergedAcrossLeftovers) {
    Machine machine(6);
    EXPECT_EQ(machine.start('m', {5, 8}), "******");
    EXPECT_EQ(machine.start('t', {3, 2}), "111***");
    EXPECT_EQ(machine.start('v', {3, 2}), "100***");
    EXPECT_EQ(machine.start('w', {3, 2}), "101***");
    EXPECT_EQ(machine.start('x', {1, 2}), "10110*");
    EXPECT_EQ(machine.start('y', {1, 2}), "10010*");
    EXPECT_EQ(machine.start('z', {1, 2}), "11110*");
    for (const char job : {'t', 'w', 'z', 'x'}) machine.finish(job);
    for (const char job : {'p', 'q', 'r', 's'}) {
        const std::string host = machine.start(job, {2, 2});
        EXPECT_TRUE(host.starts_with("111") || host.starts_with("101")) << host;
    }
    EXPECT_EQ(find_contention(machine.clusters()), std::nullopt);
    EXPECT_EQ(machine.start('e', {2, 2}), "waits");
}

TEST(AuxiliaryFreeList, MeshLargerThanTheCubeIsRefused) {
    Machine machine(6);
    EXPECT_EQ(machine.start('a', {9, 5}),
              "a 9x5 mesh needs a cube of 7 dimensions (both sides rounded up to powers of two), the machine has 6: "
              "ask for a smaller mesh, or for processors without one");
}

}  // namespace
}  // namespace zbs
