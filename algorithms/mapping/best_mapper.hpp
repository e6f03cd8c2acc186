#pragma once
#include <vector>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"

namespace zbs {

/// The best of all mappers: blocks, METIS, `multilevel`, `hier` (where it is quick) and, for process grids, boxes
/// within boxes. What exceeds the bounds least wins; then what is least by options.objective. For cost that is, in
/// seconds of one step, the compute of the slowest processor (what the bounds of compute allow is no worse than their
/// share) plus the links' time for the traffic of an average task. Equal occupancies or times are decided by cost.
/// Where the winner is not `multilevel`'s, searches start from it once more. So never worse than any of them. Time: the
/// sum of theirs.
class BestMapper final : public Mapper {
  public:
    std::string_view name() const override { return "auto"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

/// The same on a tree, where the objective itself decides.
std::vector<ProcessorIndex> best_on_tree(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds,
                                         const MapOptions& options);

}  // namespace zbs
