#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/base/task_runner.hpp"
#include "algorithms/multilevel/compact_graph.hpp"
#include "algorithms/multilevel/recipe.hpp"
#include "algorithms/multilevel/target_tree.hpp"

namespace zbs::multilevel {

/// Cuts the graph along the tree: all into zones, each zone into machines, each machine into processors, level by
/// level, the sections of a level side by side. Every cut is a partition for the edge cut with the capacities of the
/// groups; groups of different size get what fits them, and where there is far more room than load, as few as hold it
/// are used. Slack over the load is shared among the levels, most of it at the top (an adaptive imbalance, with a
/// larger share where edges cost most). Leaves may come out overloaded by a vertex's weight.
std::vector<std::int32_t> multisection(const CompactGraph& graph, const TargetTree& tree, const Recipe& recipe,
                                       std::uint64_t seed, TaskRunner& runner);

}  // namespace zbs::multilevel
