#pragma once
#include <span>
#include <vector>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// How much every processor may hold, and how large tasks are in that measure.
struct LoadBounds {
    std::vector<double> most;   ///< by processor
    bool counts_tasks = false;  ///< true: every task is 1 large; false: as large as its compute

    double size(const TaskGraph& graph, TaskIndex task) const { return counts_tasks ? 1 : graph.compute(task); }
};

/// With max_tasks_per_processor > 0 that many tasks; else (1 + imbalance) x total compute x the processor's share of
/// all speed, rounded up to a whole number where all compute is whole, as partitioners define it.
LoadBounds load_bounds(const TaskGraph& graph, const ProcessorTree& tree, const MapOptions& options);

/// How good a mapping onto a tree is.
struct TreeReport {
    /// Sum over edges of bytes x distance of their processors; each edge once.
    double cost = 0;
    /// The largest of: compute / speed of a processor; over the groups below the root, bytes that cross the group's
    /// border x the distance in its parent (with distances of their own between top groups, of the pair).
    double occupancy = 0;
    /// Largest compute of a processor over its share by speed, minus 1; 0 is even.
    double imbalance = 0;
    bool feasible = true;  ///< no processor is above its bound
    bool operator==(const TreeReport&) const = default;
};

/// From scratch, O(edges x levels + processors). Precondition: one processor in range for every task.
TreeReport evaluate_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                            std::span<const ProcessorIndex> processor_of, const LoadBounds& bounds);

}  // namespace zbs
