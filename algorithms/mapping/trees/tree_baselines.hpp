#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// What our own mapper is compared with. All give a processor to every task; only the sizes of tasks, not always the
/// bounds, are heeded, so keep_bounds() may have work left. Precondition of all: the tree has a processor.

/// Consecutive tasks on consecutive processors, even by size and speed; one each, from the first processor on, where
/// there are no more tasks than processors.
std::vector<ProcessorIndex> block_on_tree(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds);

/// Task after task to the next top group in turn, and there to its next processor.
std::vector<ProcessorIndex> round_robin_on_tree(const TaskGraph& graph, const ProcessorTree& tree);

/// Uniformly drawn, each processor in turn while there are enough tasks for all.
std::vector<ProcessorIndex> random_on_tree(const TaskGraph& graph, const ProcessorTree& tree, std::uint64_t seed);

/// The task that talks most to those placed, next, where its own traffic costs least: beside one of its four heaviest
/// partners, or at the nearest place with room. O(edges x log edges x levels).
std::vector<ProcessorIndex> greedy_on_tree(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds);

}  // namespace zbs
