#include "algorithms/allocation/allocator.hpp"

#include <sstream>
#include <string>

#include "algorithms/base/expects.hpp"

namespace zbs {

AllocationRequest mesh_request(const MeshShape& shape) {
    ZBS_EXPECTS(shape.x >= 1 && shape.y >= 1 && shape.size() <= 0x7fffffff);
    return {.processors = static_cast<std::int32_t>(shape.size()), .mesh = shape};
}

Allocator::Allocator(std::int32_t capacity) : capacity_(capacity), free_(capacity) { ZBS_EXPECTS(capacity > 0); }

Result<void> Allocator::accepts(const AllocationRequest& request) const {
    if (request.processors < 1) return invalid("a job needs at least one processor");
    if (request.mesh) {
        const MeshShape& mesh = *request.mesh;
        if (mesh.x < 1 || mesh.y < 1) return invalid("the sides of a mesh must be 1 or more");
        std::ostringstream text;
        text << "a " << mesh << " mesh";
        if (mesh.size() != request.processors)
            return invalid(text.str() + " has " + std::to_string(mesh.size()) + " processors, not " +
                           std::to_string(request.processors));
    }
    if (request.processors > capacity_)
        return invalid(std::to_string(request.processors) + " processors are asked for, the machine has " +
                       std::to_string(capacity_));
    return fits(request);
}

Result<const Placement*> Allocator::allocate(JobId id, const AllocationRequest& request) {
    if (Result<void> good = accepts(request); !good) return good.error();
    if (placements_.contains(id))
        return Error{ErrorCode::kConflict, "job " + std::to_string(id.value) + " has its processors already", {}};
    if (request.processors > free_) return nullptr;
    std::optional<Placement> found = place(id, request);
    if (!found) return nullptr;
    free_ -= static_cast<std::int32_t>(found->reserved());
    ZBS_EXPECTS(free_ >= 0);
    return &placements_.emplace(id, *std::move(found)).first->second;
}

Result<void> Allocator::release(JobId id) {
    const auto found = placements_.find(id);
    if (found == placements_.end())
        return Error{ErrorCode::kNotFound, "job " + std::to_string(id.value) + " has no processors here", {}};
    const Placement placement = std::move(found->second);
    placements_.erase(found);
    free_ += static_cast<std::int32_t>(placement.reserved());
    take_back(id, placement);
    return {};
}

std::vector<JobId> Allocator::holders() const {
    std::vector<JobId> holders(static_cast<std::size_t>(capacity_));
    for (const auto& [id, placement] : placements_)
        for (const std::vector<NodeIndex>* nodes : {&placement.nodes, &placement.idle})
            for (const NodeIndex node : *nodes) holders[static_cast<std::size_t>(node)] = id;
    return holders;
}

}  // namespace zbs
