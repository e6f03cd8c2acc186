#pragma once
#include <vector>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"

namespace zbs {

/// Our own mapper on a tree of processors: multisection by evolution, searches and annealing on the cost itself
/// (algorithms/multilevel). Keeps `bounds` wherever tasks are not too large to be packed; where they are, what can be
/// kept takes the place of the bounds. With a `start` it is searched on and nothing is cut anew. Weights are handled as
/// integers with 31 bits for all traffic together. Equal arguments give equal results whatever options.runner's width,
/// unless options.out_of_time interrupts. Near-linear in edges, see tests/benchmark.
std::vector<ProcessorIndex> multilevel_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                                               const LoadBounds& bounds, const MapOptions& options,
                                               const std::vector<ProcessorIndex>* start = nullptr);

/// The same for zones, machines and processors, with traffic as weigh_traffic() has it. Precondition: the tasks fit.
Mapping multilevel_on_zones(const TaskGraph& graph, const ResourceGraph& resources, const MapOptions& options);

/// True where there are many more slots than tasks, so that it matters which are used.
bool is_roomy(TaskIndex tasks, const ResourceGraph& resources, const MapOptions& options);

/// multilevel_on_zones(); where options.objective is occupancy or time, or there are many more slots than tasks, so
/// that it matters which are used, that is one start of map_by_objective().
class MultilevelMapper final : public Mapper {
  public:
    std::string_view name() const override { return "multilevel"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

}  // namespace zbs
