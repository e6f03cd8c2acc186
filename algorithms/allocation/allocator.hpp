#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/allocation/cube.hpp"
#include "algorithms/base/result.hpp"
#include "algorithms/model/job.hpp"

namespace zbs {

/// What a job asks of a machine.
struct AllocationRequest {
    std::int32_t processors = 1;  ///< >= 1; of a mesh X * Y
    /// The job's processes talk to their neighbours in this mesh. Nothing: any processors will do, and an allocator
    /// that only knows meshes takes the shape that its own documentation says.
    std::optional<MeshShape> mesh;
};
/// The request of an X x Y mesh.
AllocationRequest mesh_request(const MeshShape& shape);

/// The processors of one job.
struct Placement {
    /// Those it runs on; process (x, y) of a mesh at place y * X + x.
    std::vector<NodeIndex> nodes;
    /// Those that nobody else may have besides (internal fragmentation).
    std::vector<NodeIndex> idle;
    std::int64_t reserved() const { return static_cast<std::int64_t>(nodes.size() + idle.size()); }
    bool operator==(const Placement&) const = default;
};

/// Decides which processors of one machine a job gets. A deterministic state machine: equal sequences of calls give
/// equal placements. What all promise, checked by one suite: no node belongs to two jobs, none is lost, and when the
/// last job has gone, all requests that an unused machine can serve are served again.
class Allocator {
  public:
    virtual ~Allocator() = default;

    /// Gives job `id` its processors; nullptr where they are not to be had now, and nothing has changed. The placement
    /// stays where it is until the job is released. Errors: the request cannot be served by an unused machine
    /// (kInvalidArgument), the job has processors already (kConflict).
    Result<const Placement*> allocate(JobId id, const AllocationRequest& request);
    /// Takes them back. Error kNotFound: the job has none.
    Result<void> release(JobId id);
    /// Whether an unused machine could serve the request; the error says why not and what to ask for instead.
    Result<void> accepts(const AllocationRequest& request) const;

    std::int32_t capacity() const { return capacity_; }
    /// Processors reserved by nobody; not all of them need be of use to the next job.
    std::int32_t free_processors() const { return free_; }
    /// Who holds which node, by node; JobId{} (-1): nobody.
    std::vector<JobId> holders() const;
    /// Of all jobs that have one, by job.
    const std::map<JobId, Placement>& placements() const { return placements_; }

    /// An equal one.
    virtual std::unique_ptr<Allocator> clone() const = 0;
    /// An unused one of the same kind, size and options.
    virtual std::unique_ptr<Allocator> unused() const = 0;

  protected:
    explicit Allocator(std::int32_t capacity);
    Allocator(const Allocator&) = default;
    Allocator& operator=(const Allocator&) = default;

  private:
    /// As `accepts`, for a request that is in order and no larger than the machine.
    virtual Result<void> fits(const AllocationRequest& request) const = 0;
    /// Preconditions: `fits`; the job has no processors.
    virtual std::optional<Placement> place(JobId id, const AllocationRequest& request) = 0;
    virtual void take_back(JobId id, const Placement& placement) = 0;

    std::int32_t capacity_;
    std::int32_t free_;
    std::map<JobId, Placement> placements_;
};

}  // namespace zbs
