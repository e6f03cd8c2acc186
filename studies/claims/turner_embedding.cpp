#include "studies/claims/turner_embedding.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "algorithms/allocation/hypercube_allocators.hpp"
#include "algorithms/base/rng.hpp"
#include "studies/models/ecube.hpp"

namespace zbs::claims {
namespace {

using Deallocation = AuxiliaryFreeList::Deallocation;

constexpr const char* kCubeTests = "tests/unit/allocation/cube_test.cpp#";
constexpr const char* kEcubeTests = "tests/unit/allocation/ecube_test.cpp#";
constexpr const char* kListTests = "tests/unit/allocation/auxiliary_free_list_test.cpp#";
constexpr const char* kHistoryTests = "tests/property/allocation/auxiliary_free_list_property_test.cpp#";

/// Nothing is drawn.
Claim exact(std::string id, std::string place, std::string claim, std::string published, std::string ours,
            std::string see) {
    return {.id = std::move(id),
            .source = "Turner1995, " + std::move(place),
            .claim = std::move(claim),
            .published = std::move(published),
            .ours = std::move(ours),
            .spread = "exact",
            .see = std::move(see)};
}

/// How often each node of 2^dimensions is covered.
std::vector<int> covers(std::span<const Cube> cubes, int dimensions) {
    std::vector<int> counts(std::size_t{1} << dimensions, 0);
    for (const Cube& cube : cubes)
        for (const NodeIndex node : nodes_of(cube)) ++counts[static_cast<std::size_t>(node)];
    return counts;
}

int ones(std::int32_t value) { return std::popcount(static_cast<std::uint32_t>(value)); }

Claim unused_codewords() {
    int bad = 0;
    for (std::int32_t x = 1; x <= 32; ++x) {
        const int bits = ceil_log2(x);
        const std::vector<Cube> blocks = gray_blocks(static_cast<std::uint32_t>(x), 1u << bits, bits);
        const std::vector<int> counts = covers(blocks, bits);
        bool good = static_cast<int>(blocks.size()) == ones((1 << bits) - x);
        for (std::int32_t index = 0; index < 1 << bits; ++index)
            good = good && counts[gray_code(static_cast<std::uint32_t>(index))] == (index >= x ? 1 : 0);
        bad += good ? 0 : 1;
    }
    return judged(
        exact("AFL-1", "lemma 2", "the unused codewords of X <= 32 columns are disjoint cubes",
              "as many as 2^l - X has ones", std::to_string(32 - bad) + " of 32 sides: disjoint, complete, that many",
              std::string(kCubeTests) + "GrayBlocks.UnusedCodesAreAsManyCubesAsTheirNumberHasOnes"),
        bad == 0);
}

Claim worked_example(const char* id, const MeshShape& mesh, const std::vector<int>& dimensions, std::int64_t total) {
    const std::vector<Cube> left = leftover_cubes(whole_cube(host_dimension(mesh)), mesh);
    std::vector<int> ours;
    std::int64_t nodes = 0;
    for (const Cube& cube : left) {
        ours.push_back(cube.dimension());
        nodes += cube.size();
    }
    std::ranges::sort(ours, std::greater<>{});
    const auto text = [](const std::vector<int>& list, std::int64_t sum) {
        std::string out;
        for (const int dimension : list) out += (out.empty() ? "" : " ") + std::to_string(dimension);
        return "dimensions " + out + ", " + std::to_string(sum) + " nodes";
    };
    return judged(exact(id, "section 3.2",
                        std::to_string(mesh.x) + " x " + std::to_string(mesh.y) + " mesh in a cube of " +
                            std::to_string(host_dimension(mesh)) + " dimensions: cubes left over",
                        text(dimensions, total), text(ours, nodes),
                        "tests/golden/Turner1995/partition_test.cpp#PartitionExamples.CubesAreThoseOfTheTable"),
                  {ours == dimensions, nodes == total});
}

Claim tilings() {
    int bad = 0;
    for (std::int32_t x = 1; x <= 32; ++x)
        for (std::int32_t y = 1; y <= 32; ++y) {
            const Cube host = whole_cube(host_dimension({x, y}));
            std::vector<Cube> all = mesh_cubes(host, {x, y});
            bool good = static_cast<int>(all.size()) == ones(x) * ones(y);
            for (const Cube& cube : leftover_cubes(host, {x, y})) all.push_back(cube);
            for (const int count : covers(all, host.dimension())) good = good && count == 1;
            good = good && coalesced(all) == std::vector<Cube>{host};
            bad += good ? 0 : 1;
        }
    return judged(exact("AFL-4", "section 3.2 and figure 3.8",
                        "mesh and leftovers tile the host and coalesce back to it, X, Y <= 32", "always",
                        std::to_string(1024 - bad) + " of 1024 meshes",
                        std::string(kCubeTests) + "MeshPartition.TilesTheHostAndCoalescesBackWhicheverWayItIsCut"),
                  bad == 0);
}

Claim dilation() {
    int worst = 0;
    for (std::int32_t x = 1; x <= 32; ++x)
        for (std::int32_t y = 1; y <= 32; ++y) {
            const std::vector<NodeIndex> nodes = mesh_nodes(whole_cube(host_dimension({x, y})), {x, y});
            const auto apart = [&nodes](std::int32_t a, std::int32_t b) {
                return ones(nodes[static_cast<std::size_t>(a)] ^ nodes[static_cast<std::size_t>(b)]);
            };
            for (std::int32_t at = 0; at < x * y; ++at) {
                if (at % x > 0) worst = std::max(worst, apart(at, at - 1));
                if (at >= x) worst = std::max(worst, apart(at, at - x));
            }
        }
    return judged(
        exact("AFL-5", "section 3.1", "mesh neighbours are neighbours of the cube (dilation), X, Y <= 32", "1",
              std::to_string(worst), std::string(kCubeTests) + "MeshNodes.NeighboursOfTheMeshAreNeighboursOfTheCube"),
        worst == 1);
}

/// Whether a message between two nodes of the mesh uses a channel inside a leftover.
bool mesh_enters_a_leftover(const Cube& host, const MeshShape& mesh) {
    std::vector<int> inside(std::size_t{1} << std::bit_width(host.star | host.value), -1);
    const std::vector<Cube> left = leftover_cubes(host, mesh);
    for (std::size_t i = 0; i < left.size(); ++i)
        for (const NodeIndex node : nodes_of(left[i])) inside[static_cast<std::size_t>(node)] = static_cast<int>(i);
    for (const Channel& channel : ecube_channels(mesh_nodes(host, mesh))) {
        const int from = inside[static_cast<std::size_t>(channel.from)];
        if (from >= 0 && from == inside[static_cast<std::size_t>(channel.to)]) return true;
    }
    return false;
}

Claim contention_theorem() {
    int meshes = 0, bad = 0;
    for (std::int32_t x = 1; x <= 16; ++x)
        for (std::int32_t y = 1; y <= 16; ++y) {
            const int k = host_dimension({x, y});
            if (k > 7) continue;
            Cube scattered{.star = 0, .value = 1};
            for (int i = 0; i < k; ++i) scattered.star |= 1u << (i < 3 ? i + 1 : 2 * i);
            meshes += 2;
            bad += mesh_enters_a_leftover(whole_cube(k), {x, y}) ? 1 : 0;
            bad += mesh_enters_a_leftover(scattered, {x, y}) ? 1 : 0;
        }
    return judged(
        exact("AFL-6", "theorem 1",
              "no route of a mesh uses a channel inside a leftover cube: hosts up to 7 dimensions, plain and "
              "with scattered stars",
              "never", std::to_string(bad) + " of " + std::to_string(meshes) + " meshes do",
              std::string(kEcubeTests) + "ContentionTheorem.HoldsForAllMeshesUpTo16By16InHostsUpTo7Dimensions"),
        bad == 0);
}

Claim side_by_side() {
    std::vector<std::vector<NodeIndex>> clusters(2);
    for (std::uint32_t column = 0; column < 8; ++column)
        for (NodeIndex row = 0; row < 2; ++row)
            clusters[column < 3 ? 0 : 1].push_back(static_cast<NodeIndex>(gray_code(column)) << 1 | row);
    const bool used = ecube_uses(0b0100, 0b1010, {0b0110, 0b0010});
    const bool flagged = find_contention(clusters).has_value();
    return judged(
        exact("AFL-7", "figure 3.1", "two meshes packed side by side share a channel", "0100 -> 1010 uses 0110 -> 0010",
              std::string("that message ") + (used ? "uses" : "does not use") + " it; the placement is " +
                  (flagged ? "flagged" : "not flagged"),
              std::string(kEcubeTests) + "FindContention.FlagsTwoMeshesPackedSideBySide"),
        {used, flagged});
}

Claim two_in_one_cube() {
    AuxiliaryFreeList afl({.dimensions = 5});
    FreeListCubes list({.dimensions = 5});
    const auto places = [](Allocator& machine) {
        int placed = 0;
        for (const auto& [id, mesh] : {std::pair{1, MeshShape{4, 6}}, std::pair{2, MeshShape{4, 2}}}) {
            const Result<const Placement*> place = machine.allocate(JobId{id}, mesh_request(mesh));
            placed += place && *place != nullptr ? 1 : 0;
        }
        return placed;
    };
    const int with_afl = places(afl), with_list = places(list);
    return judged(exact("AFL-8", "section 4.1", "4 x 6 and 4 x 2 in one 5-cube", "both under AFL, one under FL",
                        "AFL places " + std::to_string(with_afl) + ", FL " + std::to_string(with_list),
                        std::string(kListTests) + "AuxiliaryFreeList.PairsOfTheConstantWorkloadShareAFiveCube"),
                  {with_afl == 2, with_list == 1});
}

/// What random histories of jobs that come and go make of the allocator.
struct History {
    std::int64_t steps = 0, contended = 0, untiled = 0;
    bool whole_again = true;
};

bool tiles(const AuxiliaryFreeList& machine) {
    std::vector<Cube> all;
    for (const auto& list : machine.free_list().lists()) all.insert(all.end(), list.begin(), list.end());
    for (const auto& list : machine.auxiliary())
        for (const AuxiliaryFreeList::Leftover& leftover : list) all.push_back(leftover.cube);
    for (const auto& [id, cluster] : machine.clusters())
        for (const Cube& cube : mesh_cubes(cluster.host, cluster.mesh)) all.push_back(cube);
    return std::ranges::all_of(covers(all, machine.dimensions()), [](int count) { return count == 1; });
}

/// A quarter of the jobs large, the others tiny: leftovers find tenants, which outlive them.
MeshShape random_mesh(Rng& rng, int dimensions) {
    const std::uint64_t side = rng.below(4) == 0 ? 1u << ((dimensions + 1) / 2) : 2;
    for (;;) {
        const MeshShape mesh{static_cast<std::int32_t>(1 + rng.below(side)),
                             static_cast<std::int32_t>(1 + rng.below(side))};
        if (host_dimension(mesh) <= dimensions) return mesh;
    }
}

void run_history(AuxiliaryFreeList& machine, std::uint64_t seed, std::int64_t steps, History& history) {
    Rng rng(seed);
    std::map<Channel, int> users;
    std::map<JobId, std::vector<Channel>> channels;
    std::vector<JobId> running;
    const auto leave = [&](std::size_t index) {
        const JobId id = running[index];
        for (const Channel& channel : channels[id]) --users[channel];
        channels.erase(id);
        ZBS_EXPECTS(machine.release(id).has_value());
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
    };
    for (std::int64_t step = 0; step < steps; ++step, ++history.steps) {
        if (!running.empty() && rng.below(2) == 0) {
            leave(rng.below(running.size()));
        } else {
            const Result<const Placement*> placed =
                machine.allocate(JobId{step}, mesh_request(random_mesh(rng, machine.dimensions())));
            if (!placed || *placed == nullptr) continue;
            bool shares = false;
            for (const Channel& channel : channels[JobId{step}] = ecube_channels((*placed)->nodes))
                shares = users[channel]++ > 0 || shares;
            history.contended += shares ? 1 : 0;
            running.push_back(JobId{step});
        }
        history.untiled += tiles(machine) ? 0 : 1;
    }
    while (!running.empty()) leave(running.size() - 1);
    history.whole_again = history.whole_again &&
                          machine.free_list().lists().back() == std::vector<Cube>{whole_cube(machine.dimensions())} &&
                          std::ranges::all_of(machine.auxiliary(), [](const auto& list) { return list.empty(); });
}

History histories(Deallocation deallocation, std::int64_t steps, const Effort& effort) {
    History history;
    for (const int dimensions : {4, 5, 6})
        for (int seed = 1; seed <= effort.seeds; ++seed) {
            AuxiliaryFreeList machine({.dimensions = dimensions, .deallocation = deallocation});
            run_history(machine, static_cast<std::uint64_t>(seed), steps, history);
        }
    return history;
}

/// A job that comes when two leftovers of a running mesh have become free.
struct BetweenLeftovers {
    std::string host = "waits";
    int shared_channels = 0;  ///< with the mesh
};
BetweenLeftovers between_leftovers(Deallocation deallocation) {
    AuxiliaryFreeList machine({.dimensions = 4, .deallocation = deallocation});
    const auto start = [&machine](int id, const MeshShape& mesh) {
        const Result<const Placement*> placed = machine.allocate(JobId{id}, mesh_request(mesh));
        return placed && *placed != nullptr;
    };
    ZBS_EXPECTS(start(0, {5, 2}));
    for (const int id : {1, 2, 3}) ZBS_EXPECTS(start(id, {1, 2}));
    for (const int id : {1, 3}) ZBS_EXPECTS(machine.release(JobId{id}).has_value());
    BetweenLeftovers found;
    if (!start(4, {2, 2})) return found;
    found.host = "gets " + to_string(machine.clusters().at(JobId{4}).host, 4);
    const std::vector<Channel> mesh = ecube_channels(machine.placements().at(JobId{0}).nodes);
    for (const Channel& channel : ecube_channels(machine.placements().at(JobId{4}).nodes))
        found.shared_channels += std::ranges::binary_search(mesh, channel) ? 1 : 0;
    return found;
}

/// Seeds after which a machine whose free cubes are merged so is one cube again.
int whole_after_draining(FreeCubes::Coalescing coalescing, const Effort& effort) {
    int whole = 0;
    for (int seed = 1; seed <= effort.seeds; ++seed) {
        Rng rng(static_cast<std::uint64_t>(seed));
        FreeListCubes machine({.dimensions = 6, .coalescing = coalescing});
        std::vector<JobId> running;
        for (int step = 0; step < 3000; ++step) {
            if (!running.empty() && rng.below(2) == 0) {
                const std::size_t index = rng.below(running.size());
                ZBS_EXPECTS(machine.release(running[index]).has_value());
                running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
            } else {
                const Result<const Placement*> placed =
                    machine.allocate(JobId{step}, mesh_request(random_mesh(rng, 6)));
                if (placed && *placed != nullptr) running.push_back(JobId{step});
            }
        }
        for (const JobId id : running) ZBS_EXPECTS(machine.release(id).has_value());
        whole += machine.free_list().lists().back().empty() ? 0 : 1;
    }
    return whole;
}

}  // namespace

Part turner_embedding(const Effort& effort) {
    Part part;
    part.claims = {unused_codewords(),
                   worked_example("AFL-2", {20, 30}, {8, 7, 5, 3}, 424),
                   worked_example("AFL-3", {5, 5}, {4, 3, 3, 2, 1, 0}, 39),
                   tilings(),
                   dilation(),
                   contention_theorem(),
                   side_by_side(),
                   two_in_one_cube()};

    const std::int64_t steps = effort.scaled(2000, 200);
    const History aware = histories(Deallocation::kOwnerAware, steps, effort);
    const std::string length = std::to_string(aware.steps) + " steps on cubes of 4 to 6 dimensions";
    const std::string no_user =
        std::string(kHistoryTests) + "AuxiliaryFreeListProperty.NoChannelHasTwoUsersAndAllComesBack";
    part.claims.push_back(judged(exact("AFL-9", "chapter 3 (follows from it)",
                                       "after every step FL, AFL and mesh pieces are disjoint and cover the machine",
                                       "always", std::to_string(aware.untiled) + " violations in " + length, no_user),
                                 aware.untiled == 0));
    part.claims.push_back(judged(exact("AFL-10a", "theorem 1 and figure 3.9",
                                       "no directed channel is used by two running jobs, over whole histories", "never",
                                       std::to_string(aware.contended) + " starts in " + length, no_user),
                                 aware.contended == 0,
                                 "with the owner-aware release; the rule as printed does not keep the promise"));
    const BetweenLeftovers literal = between_leftovers(Deallocation::kLiteral);
    part.claims.push_back(
        judged(exact("AFL-10b", "figure 3.9, as printed", "released pieces may all go to FL, without contention",
                     "no contention",
                     "a job " + literal.host + " across two leftovers of a running mesh and shares " +
                         std::to_string(literal.shared_channels) + " channels with it",
                     std::string(kListTests) + "TwoLeftovers.AreMergedByTheLiteralRuleOnly"),
               literal.shared_channels == 0, "",
               {.name = "owner-aware release",
                .statement = "the rule merges cubes that the theorem says nothing of; without that the job waits",
                .evaluate =
                    [] {
                        const BetweenLeftovers kept = between_leftovers(Deallocation::kOwnerAware);
                        return Evidence{
                            "a job " + kept.host + ", " + std::to_string(kept.shared_channels) + " shared channels",
                            kept.shared_channels == 0};
                    },
                .verdict = Verdict::kContested}));
    const int complete = whole_after_draining(FreeCubes::Coalescing::kComplete, effort);
    const int pairwise = whole_after_draining(FreeCubes::Coalescing::kPairwise, effort);
    part.claims.push_back(judged(
        exact("AFL-11", "figure 3.8", "when all jobs have gone the machine is one cube again", "always",
              std::string(aware.whole_again ? "after every history" : "not after every history") +
                  "; a free list of 6 dimensions: " + std::to_string(complete) + " of " + std::to_string(effort.seeds) +
                  " seeds, merged by pairs as printed " + std::to_string(pairwise),
              std::string(kHistoryTests) + "FreeCubesProperty.PairwiseMergingLosesLargeCubes"),
        {aware.whole_again, complete == effort.seeds, pairwise < effort.seeds},
        "with complete coalescing; merging by pairs loses the large cubes"));
    return part;
}

}  // namespace zbs::claims
