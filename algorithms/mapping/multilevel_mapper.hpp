#pragma once
#include <vector>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"

namespace zbs {

/// Our own mapper on a tree of processors: multisection by evolution, searches and annealing on the cost itself
/// (algorithms/multilevel). Keeps `bounds` wherever tasks are not too large to be packed. Weights are handled as
/// integers with 31 bits for all traffic together. Equal arguments give equal results whatever options.runner's width,
/// unless options.out_of_time interrupts. Near-linear in edges, see tests/benchmark.
std::vector<ProcessorIndex> multilevel_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                                               const LoadBounds& bounds, const MapOptions& options);

/// The same for zones, machines and processors. Traffic of a pair counts as the time it keeps the slowest link busy,
/// bytes / bandwidth + messages x delay (without weigh_messages: the bytes), and links are as far as an average message
/// takes over them.
class MultilevelMapper final : public Mapper {
  public:
    std::string_view name() const override { return "multilevel"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

}  // namespace zbs
