#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "algorithms/allocation/hypercube_allocators.hpp"
#include "algorithms/base/rng.hpp"
#include "studies/models/ecube.hpp"

// Invariants of the auxiliary free list after every step of random histories.
namespace zbs {
namespace {

using Deallocation = AuxiliaryFreeList::Deallocation;

/// A quarter of the jobs large, the others tiny: leftovers find tenants, which outlive them.
MeshShape random_mesh(Rng& rng, int dimensions) {
    const std::int32_t side = rng.below(4) == 0 ? 1 << ((dimensions + 1) / 2) : 2;
    for (;;) {
        const MeshShape mesh{static_cast<std::int32_t>(1 + rng.below(static_cast<std::uint64_t>(side))),
                             static_cast<std::int32_t>(1 + rng.below(static_cast<std::uint64_t>(side)))};
        if (host_dimension(mesh) <= dimensions) return mesh;
    }
}

void expect_tiling(const AuxiliaryFreeList& machine) {
    std::vector<int> covers(static_cast<std::size_t>(machine.capacity()), 0);
    const auto cover = [&covers](const Cube& cube) {
        for (const NodeIndex node : nodes_of(cube)) ++covers[static_cast<std::size_t>(node)];
    };
    for (const auto& list : machine.free_list().lists())
        for (const Cube& cube : list) cover(cube);
    for (std::size_t dimension = 0; dimension < machine.auxiliary().size(); ++dimension) {
        for (const AuxiliaryFreeList::Leftover& leftover : machine.auxiliary()[dimension]) {
            ASSERT_EQ(leftover.cube.dimension(), static_cast<int>(dimension));
            ASSERT_TRUE(leftover.root.contains(leftover.cube));
            ASSERT_TRUE(machine.clusters().contains(leftover.owner)) << "a leftover of nobody";
            cover(leftover.cube);
        }
    }
    for (const auto& [id, cluster] : machine.clusters())
        for (const Cube& cube : mesh_cubes(cluster.host, cluster.mesh)) cover(cube);
    for (const int count : covers) ASSERT_EQ(count, 1);
}

/// The channels of running jobs, kept up to date as jobs come and go.
class ChannelUse {
  public:
    /// How many channels the job shares with others.
    int add(JobId id, const std::vector<NodeIndex>& nodes) {
        int shared = 0;
        for (const Channel& channel : channels_[id] = ecube_channels(nodes)) shared += users_[channel]++ > 0 ? 1 : 0;
        return shared;
    }
    void remove(JobId id) {
        for (const Channel& channel : channels_[id]) --users_[channel];
        channels_.erase(id);
    }

  private:
    std::map<Channel, int> users_;
    std::map<JobId, std::vector<Channel>> channels_;
};

/// Steps at which a job got a channel that another one has.
int contended_starts(AuxiliaryFreeList& machine, std::uint64_t seed, int steps) {
    Rng rng(seed);
    ChannelUse use;
    std::vector<JobId> running;
    int contended = 0;
    for (int step = 0; step < steps; ++step) {
        if (!running.empty() && rng.below(2) == 0) {
            const std::size_t index = rng.below(running.size());
            use.remove(running[index]);
            EXPECT_TRUE(machine.release(running[index]).has_value());
            running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
        } else {
            const JobId id{step};
            const auto placed = machine.allocate(id, mesh_request(random_mesh(rng, machine.dimensions())));
            if (*placed == nullptr) continue;
            contended += use.add(id, (*placed)->nodes) > 0 ? 1 : 0;
            running.push_back(id);
        }
        if (step % 16 == 0) expect_tiling(machine);
        if (testing::Test::HasFatalFailure()) return contended;
    }
    for (const JobId id : running) EXPECT_TRUE(machine.release(id).has_value());
    return contended;
}

TEST(AuxiliaryFreeListProperty, NoChannelHasTwoUsersAndAllComesBack) {
    for (const int dimensions : {4, 5, 6, 7}) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            SCOPED_TRACE(testing::Message() << dimensions << " dimensions, seed " << seed);
            AuxiliaryFreeList machine({.dimensions = dimensions});
            ASSERT_EQ(contended_starts(machine, seed, 20'000), 0);
            expect_tiling(machine);
            ASSERT_EQ(machine.free_list().lists().back(), std::vector<Cube>{whole_cube(dimensions)});
            for (const auto& list : machine.auxiliary()) ASSERT_TRUE(list.empty());
        }
    }
}

TEST(AuxiliaryFreeListProperty, TheLiteralRuleSharesChannels) {
    int contended = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        AuxiliaryFreeList machine({.dimensions = 5, .deallocation = Deallocation::kLiteral});
        contended += contended_starts(machine, seed, 20'000);
        ASSERT_EQ(machine.free_list().lists().back(), std::vector<Cube>{whole_cube(5)});
    }
    EXPECT_GT(contended, 0);
}

/// An unused machine of 64 nodes that has forgotten that it is one.
TEST(FreeCubesProperty, PairwiseMergingLosesLargeCubes) {
    std::size_t most_pieces = 0, refusals = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        for (const auto coalescing : {FreeCubes::Coalescing::kComplete, FreeCubes::Coalescing::kPairwise}) {
            Rng rng(seed);
            FreeListCubes machine({.dimensions = 6, .coalescing = coalescing});
            std::vector<JobId> running;
            for (int step = 0; step < 3'000; ++step) {
                if (!running.empty() && rng.below(2) == 0) {
                    const std::size_t index = rng.below(running.size());
                    ASSERT_TRUE(machine.release(running[index]).has_value());
                    running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
                } else if (*machine.allocate(JobId{step}, mesh_request(random_mesh(rng, 6))) != nullptr) {
                    running.push_back(JobId{step});
                }
            }
            for (const JobId id : running) ASSERT_TRUE(machine.release(id).has_value());
            std::size_t pieces = 0;
            for (const auto& list : machine.free_list().lists()) pieces += list.size();
            const bool served = *machine.allocate(JobId{0}, mesh_request({4, 6})) != nullptr;
            if (coalescing == FreeCubes::Coalescing::kComplete) {
                ASSERT_EQ(pieces, 1u);
                ASSERT_TRUE(served);
            } else {
                most_pieces = std::max(most_pieces, pieces);
                refusals += served ? 0 : 1;
            }
        }
    }
    EXPECT_GT(most_pieces, 1u);
    EXPECT_GT(refusals, 0u) << "an empty machine served everybody";
}

}  // namespace
}  // namespace zbs
