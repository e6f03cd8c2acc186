#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// Recursive multisection along the tree: at every group METIS [Karypis1998] cuts the tasks into one part per child,
/// sized by what the children may hold. METIS knows 32-bit weights only; larger sums are scaled down, and a weight that
/// scaling would lose becomes 1. Where a group has fewer tasks than processors, only as many children get tasks as are
/// needed. Parts may exceed their bound a little: keep_bounds() is for that.
///
/// METIS draws from the C library's random numbers: not for several threads at a time.
std::vector<ProcessorIndex> metis_multisection(const TaskGraph& graph, const ProcessorTree& tree,
                                               const LoadBounds& bounds, std::uint64_t seed);

/// The same for zones, machines and processors, with traffic as weigh_traffic() has it, and its bounds kept.
class MetisMapper final : public Mapper {
  public:
    std::string_view name() const override { return "metis"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

}  // namespace zbs
