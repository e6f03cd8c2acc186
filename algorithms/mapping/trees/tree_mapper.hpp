#pragma once
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// The processor of every task, by the algorithm of that name (tree_mapper_names). Equal arguments give equal results.
/// Every result keeps load_bounds() where a repair by moves and swaps finds a way; evaluate_on_tree reports it. Errors,
/// all kInvalidArgument: an unknown name, a negative limit, more tasks than slots, a tree of more than three levels for
/// `global`, and for `hier` unless level1 is "multilevel" and level2 "multilevel" or "hier".
Result<std::vector<ProcessorIndex>> map_onto_tree(const TaskGraph& graph, const ProcessorTree& tree,
                                                  std::string_view algorithm, const MapOptions& options);

/// `auto`, `multilevel`, `block`, `round-robin`, `random`, `greedy`, `metis`, `global`, `hier`.
std::vector<std::string_view> tree_mapper_names();

/// The tree as zones, machines and processors, where traffic takes bytes x distance seconds; two levels are one zone,
/// one level is one machine. Error where the tree has more than three levels.
Result<ResourceGraph> resources_of(const ProcessorTree& tree);

}  // namespace zbs
