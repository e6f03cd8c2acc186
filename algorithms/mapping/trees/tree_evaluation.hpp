#pragma once
#include <span>
#include <vector>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/model/mapping.hpp"
#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// How much every processor may hold, and how large tasks are in that measure.
struct LoadBounds {
    std::vector<double> most;   ///< by processor
    bool counts_tasks = false;  ///< true: every task is 1 large; false: as large as its compute

    double size(const TaskGraph& graph, TaskIndex task) const { return counts_tasks ? 1 : graph.compute(task); }
};

/// With max_tasks_per_processor > 0 that many tasks; else (1 + imbalance) x the processor's share of all compute by its
/// speed. Where all compute is whole the share is rounded up first and the bound down: floor((1 + imbalance) x
/// ceil(share)), as most partitioners define it.
LoadBounds load_bounds(const TaskGraph& graph, const ProcessorTree& tree, const MapOptions& options);

/// From scratch, O(edges x levels + processors). Precondition: one processor in range for every task.
TreeReport evaluate_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                            std::span<const ProcessorIndex> processor_of, const LoadBounds& bounds);

}  // namespace zbs
