#pragma once
#include <map>
#include <optional>
#include <vector>

#include "algorithms/allocation/allocator.hpp"
#include "algorithms/allocation/free_cubes.hpp"

namespace zbs {

/// The mesh that a request without one becomes in a hypercube.
enum class HypercubeShape : std::uint8_t {
    kLine,    ///< 1 x processors: exactly as many, in the smallest cube that holds them
    kSquare,  ///< least X + Y, then least X * Y, then X >= Y, among those that fit the machine
};

/// What the allocators of a hypercube have in common: which cube a request needs.
class HypercubeAllocator : public Allocator {
  public:
    int dimensions() const { return dimensions_; }
    HypercubeShape shape() const { return shape_; }
    /// The mesh that the request is served with.
    MeshShape mesh_of(const AllocationRequest& request) const;

  protected:
    /// Precondition: 0 <= dimensions <= CubeDecomposer::kMaxDimensions.
    HypercubeAllocator(int dimensions, HypercubeShape shape);
    HypercubeAllocator(const HypercubeAllocator&) = default;
    HypercubeAllocator& operator=(const HypercubeAllocator&) = default;
    /// The whole cube is reserved: the request runs on the mesh in it, the rest is idle.
    Placement whole(const Cube& host, const AllocationRequest& request) const;

  private:
    Result<void> fits(const AllocationRequest& request) const final;
    int dimensions_;
    HypercubeShape shape_;
};

/// Subcubes of 2^k consecutive addresses from a multiple of 2^k on, the first free one: the buddy strategy, which
/// recognises 2^(n-k) of the C(n,k) * 2^(n-k) k-cubes [Turner1995, chapter 2]. O(nodes) for each request.
class BuddyCubes final : public HypercubeAllocator {
  public:
    BuddyCubes(int dimensions, HypercubeShape shape);
    std::unique_ptr<Allocator> clone() const override { return std::make_unique<BuddyCubes>(*this); }
    std::unique_ptr<Allocator> unused() const override { return std::make_unique<BuddyCubes>(dimensions(), shape()); }

  private:
    std::optional<Placement> place(JobId id, const AllocationRequest& request) override;
    void take_back(JobId id, const Placement& placement) override;
    std::vector<std::uint8_t> busy_;  ///< by node
};

/// Whole subcubes from a free list [KimDasLin1991]. A mesh reserves a cube of ceil(log2 X) + ceil(log2 Y) dimensions,
/// however much of it stays idle. O(n) to allocate, as CubeDecomposer to release.
class FreeListCubes final : public HypercubeAllocator {
  public:
    struct Options {
        int dimensions = 0;
        HypercubeShape shape = HypercubeShape::kLine;
        FreeCubes::Coalescing coalescing = FreeCubes::Coalescing::kComplete;
    };
    explicit FreeListCubes(const Options& options);
    const FreeCubes& free_list() const { return free_list_; }
    std::unique_ptr<Allocator> clone() const override { return std::make_unique<FreeListCubes>(*this); }
    std::unique_ptr<Allocator> unused() const override { return std::make_unique<FreeListCubes>(options_); }

  private:
    std::optional<Placement> place(JobId id, const AllocationRequest& request) override;
    void take_back(JobId id, const Placement& placement) override;
    Options options_;
    FreeCubes free_list_;
};

/// Meshes inside subcubes, whose unused nodes go to other jobs: the auxiliary free list AFL in front of a free list FL
/// [Turner1995, chapter 3]. No two jobs share a channel under E-cube routing, as long as each of them sends between its
/// own nodes only. AFL is asked before FL, however much better FL would fit.
///
/// Allocation costs O(n + k^2) for a host of dimension k; a release O(k^3 + cubes in AFL + jobs), and, where cubes go
/// back to FL, what a CubeDecomposer costs.
class AuxiliaryFreeList final : public HypercubeAllocator {
  public:
    enum class Deallocation : std::uint8_t {
        /// What lies in a leftover of a running mesh stays in AFL, under that mesh, and is only merged inside the same
        /// leftover; all else goes to FL.
        kOwnerAware,
        /// Everything goes to FL [Turner1995, figure 3.9, as printed]. Pieces of two leftovers of a running mesh may
        /// then be merged into a cube that shares channels with it; kept to show it.
        kLiteral,
    };
    struct Options {
        int dimensions = 0;
        HypercubeShape shape = HypercubeShape::kLine;
        Deallocation deallocation = Deallocation::kOwnerAware;
        FreeCubes::Coalescing coalescing = FreeCubes::Coalescing::kComplete;
    };
    /// A free cube inside a leftover.
    struct Leftover {
        Cube cube;
        JobId owner;  ///< the running mesh that left it
        Cube root;    ///< the leftover as it was cut
        bool operator==(const Leftover&) const = default;
    };
    /// The cube that a running mesh is embedded in, and where it came from.
    struct Cluster {
        Cube host;
        MeshShape mesh;
        JobId owner;  ///< of the leftover that the host lies in; JobId{}: the host came from FL
        Cube root;    ///< that leftover
        bool operator==(const Cluster&) const = default;
    };

    explicit AuxiliaryFreeList(const Options& options);
    const FreeCubes& free_list() const { return free_list_; }
    /// AFL by dimension.
    const std::vector<std::vector<Leftover>>& auxiliary() const { return auxiliary_; }
    /// Of all running jobs.
    const std::map<JobId, Cluster>& clusters() const { return clusters_; }
    std::unique_ptr<Allocator> clone() const override { return std::make_unique<AuxiliaryFreeList>(*this); }
    std::unique_ptr<Allocator> unused() const override { return std::make_unique<AuxiliaryFreeList>(options_); }

  private:
    std::optional<Placement> place(JobId id, const AllocationRequest& request) override;
    void take_back(JobId id, const Placement& placement) override;
    std::optional<Leftover> take_leftover(int dimension);
    void put_leftover(const Leftover& leftover);
    /// Removes what `wanted` accepts from AFL and appends its cubes to `cubes`.
    template <class Predicate>
    void collect(std::vector<Cube>& cubes, Predicate wanted);

    Options options_;
    FreeCubes free_list_;
    std::vector<std::vector<Leftover>> auxiliary_;
    std::map<JobId, Cluster> clusters_;
};

}  // namespace zbs
