#include "algorithms/allocation/hypercube_allocators.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "algorithms/base/expects.hpp"

namespace zbs {

HypercubeAllocator::HypercubeAllocator(int dimensions, HypercubeShape shape)
    : Allocator(std::int32_t{1} << dimensions), dimensions_(dimensions), shape_(shape) {
    ZBS_EXPECTS(dimensions >= 0 && dimensions <= CubeDecomposer::kMaxDimensions);
}

MeshShape HypercubeAllocator::mesh_of(const AllocationRequest& request) const {
    if (request.mesh) return *request.mesh;
    MeshShape best{1, request.processors};
    if (shape_ == HypercubeShape::kLine) return best;
    const auto rank = [](const MeshShape& mesh) { return std::tuple(mesh.x + mesh.y, mesh.size(), -mesh.x); };
    for (std::int32_t x = 2; x <= request.processors; ++x) {
        const MeshShape mesh{x, (request.processors - 1) / x + 1};
        if (host_dimension(mesh) <= dimensions_ && rank(mesh) < rank(best)) best = mesh;
    }
    return best;
}

Result<void> HypercubeAllocator::fits(const AllocationRequest& request) const {
    const MeshShape mesh = mesh_of(request);
    const int needed = host_dimension(mesh);
    if (needed <= dimensions_) return {};
    std::ostringstream text;
    text << "a " << mesh << " mesh needs a cube of " << needed
         << " dimensions (both sides rounded up to powers of two), the machine has " << dimensions_
         << ": ask for a smaller mesh, or for processors without one";
    return invalid(text.str());
}

Placement HypercubeAllocator::whole(const Cube& host, const AllocationRequest& request) const {
    Placement placement{.nodes = mesh_nodes(host, mesh_of(request)), .idle = {}};
    std::vector<NodeIndex> used = placement.nodes, all = nodes_of(host);
    // A mesh made for a number of processors may have more than that.
    placement.nodes.resize(static_cast<std::size_t>(request.processors));
    used.resize(placement.nodes.size());
    std::ranges::sort(used);
    std::ranges::set_difference(all, used, std::back_inserter(placement.idle));
    return placement;
}

BuddyCubes::BuddyCubes(int dimensions, HypercubeShape shape)
    : HypercubeAllocator(dimensions, shape), busy_(static_cast<std::size_t>(capacity()), 0) {}

std::optional<Placement> BuddyCubes::place(JobId, const AllocationRequest& request) {
    const int k = host_dimension(mesh_of(request));
    const std::ptrdiff_t size = std::ptrdiff_t{1} << k;
    for (auto begin = busy_.begin(); begin != busy_.end(); begin += size) {
        if (std::find(begin, begin + size, 1) != begin + size) continue;
        std::fill(begin, begin + size, std::uint8_t{1});
        return whole({.star = whole_cube(k).star, .value = static_cast<std::uint32_t>(begin - busy_.begin())}, request);
    }
    return std::nullopt;
}

void BuddyCubes::take_back(JobId, const Placement& placement) {
    for (const std::vector<NodeIndex>* nodes : {&placement.nodes, &placement.idle})
        for (const NodeIndex node : *nodes) busy_[static_cast<std::size_t>(node)] = 0;
}

FreeListCubes::FreeListCubes(const Options& options)
    : HypercubeAllocator(options.dimensions, options.shape),
      options_(options),
      free_list_(options.dimensions, options.coalescing) {}

std::optional<Placement> FreeListCubes::place(JobId, const AllocationRequest& request) {
    const std::optional<Cube> host = free_list_.take(host_dimension(mesh_of(request)));
    if (!host) return std::nullopt;
    return whole(*host, request);
}

void FreeListCubes::take_back(JobId, const Placement& placement) {
    std::vector<NodeIndex> nodes = placement.nodes;
    nodes.insert(nodes.end(), placement.idle.begin(), placement.idle.end());
    const Cube cube = enclosing_cube(nodes);
    free_list_.put(std::span(&cube, 1));
}

AuxiliaryFreeList::AuxiliaryFreeList(const Options& options)
    : HypercubeAllocator(options.dimensions, options.shape),
      options_(options),
      free_list_(options.dimensions, options.coalescing),
      auxiliary_(static_cast<std::size_t>(options.dimensions) + 1) {}

void AuxiliaryFreeList::put_leftover(const Leftover& leftover) {
    auxiliary_[static_cast<std::size_t>(leftover.cube.dimension())].push_back(leftover);
}

std::optional<AuxiliaryFreeList::Leftover> AuxiliaryFreeList::take_leftover(int dimension) {
    std::size_t from = static_cast<std::size_t>(dimension);
    while (from < auxiliary_.size() && auxiliary_[from].empty()) ++from;
    if (from >= auxiliary_.size()) return std::nullopt;
    Leftover found = auxiliary_[from].back();
    auxiliary_[from].pop_back();
    for (; from > static_cast<std::size_t>(dimension); --from) {
        const CubeHalves halves = split(found.cube);
        put_leftover({halves.high, found.owner, found.root});
        found.cube = halves.low;
    }
    return found;
}

template <class Predicate>
void AuxiliaryFreeList::collect(std::vector<Cube>& cubes, Predicate wanted) {
    for (std::vector<Leftover>& list : auxiliary_)
        std::erase_if(list, [&](const Leftover& leftover) {
            if (!wanted(leftover)) return false;
            cubes.push_back(leftover.cube);
            return true;
        });
}

std::optional<Placement> AuxiliaryFreeList::place(JobId id, const AllocationRequest& request) {
    const MeshShape mesh = mesh_of(request);
    const int k = host_dimension(mesh);
    Cluster cluster{.host = {}, .mesh = mesh, .owner = {}, .root = {}};
    if (const std::optional<Leftover> leftover = take_leftover(k)) {
        cluster.host = leftover->cube;
        cluster.owner = leftover->owner;
        cluster.root = leftover->root;
    } else if (const std::optional<Cube> cube = free_list_.take(k)) {
        cluster.host = *cube;
    } else {
        return std::nullopt;
    }
    for (const Cube& cube : leftover_cubes(cluster.host, mesh)) put_leftover({cube, id, cube});
    clusters_.emplace(id, cluster);
    Placement placement{.nodes = mesh_nodes(cluster.host, mesh), .idle = {}};
    const auto end = placement.nodes.begin() + request.processors;
    placement.idle.assign(end, placement.nodes.end());
    placement.nodes.erase(end, placement.nodes.end());
    return placement;
}

void AuxiliaryFreeList::take_back(JobId id, const Placement&) {
    const auto found = clusters_.find(id);
    ZBS_EXPECTS(found != clusters_.end());
    const Cluster cluster = found->second;
    clusters_.erase(found);
    std::vector<Cube> freed = mesh_cubes(cluster.host, cluster.mesh);
    collect(freed, [id](const Leftover& leftover) { return leftover.owner == id; });
    // Who runs in this mesh's leftovers now stands where the mesh stood. (Sending a tenant's nodes to FL when only its
    // own mesh has gone would let nodes inside a running mesh's host leave it.)
    for (auto& [tenant, other] : clusters_) {
        if (other.owner != id) continue;
        other.owner = cluster.owner;
        other.root = cluster.root;
    }
    if (cluster.owner == JobId{} || options_.deallocation == Deallocation::kLiteral) {
        free_list_.put(coalesced(std::move(freed)));
        return;
    }
    collect(freed, [&cluster](const Leftover& leftover) {
        return leftover.owner == cluster.owner && leftover.root == cluster.root;
    });
    for (const Cube& cube : coalesced(std::move(freed))) put_leftover({cube, cluster.owner, cluster.root});
}

}  // namespace zbs
