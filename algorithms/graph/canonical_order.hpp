#pragma once
#include <span>
#include <vector>

#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// Tasks in an order that depends on the graph and not on how tasks are numbered: by traffic (least first), then
/// compute, then a hash of the surroundings refined round by round (colour refinement). Only tasks that no round
/// distinguishes, mostly true mirror images, keep the order of their numbers.
/// `weight[i]` belongs to `graph.edges()[i]`. O(rounds x edges + edges log degree), rounds <= 32.
std::vector<TaskIndex> canonical_order(const TaskGraph& graph, std::span<const double> weight);

}  // namespace zbs
