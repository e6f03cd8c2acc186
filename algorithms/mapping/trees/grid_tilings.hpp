#pragma once
#include <vector>

#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// Mappings of a process grid by boxes within boxes, the one of least cost first; at most three. Empty where the graph
/// is no grid. A graph is a grid if there is a shape of two or three sides, last side fastest, in which most traffic
/// goes to near places, around the ends included. Groups of a level are boxes side by side; all ways to divide the
/// sides among the levels are judged by the area of the borders, the best of them by the cost itself. Where sides do
/// not divide evenly, boxes end in steps. Bounds may need a repair. O(shapes x 4,000 + divisions x levels + edges x
/// levels).
std::vector<std::vector<ProcessorIndex>> grid_tilings(const TaskGraph& graph, const ProcessorTree& tree,
                                                      const LoadBounds& bounds);

}  // namespace zbs
