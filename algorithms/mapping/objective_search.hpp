#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/base/task_runner.hpp"
#include "algorithms/mapping/objective.hpp"

namespace zbs {

struct ImproveOptions {
    std::uint64_t seed = 1;
    std::int64_t work = 20'000'000;  ///< visits of neighbours, roughly, of each chain: 10 to 20 ns each
    int rounds = 100;                ///< at most so often is every pair of task and processor drawn, on average
    int chains = 2;                  ///< independent annealings; the best is taken; 0: none
    TaskRunner* runner = nullptr;    ///< null is serial; not owned
    std::function<bool()> out_of_time = {};
};

/// Makes the objective's state for a mapping; called once per start and chain, from any thread.
using MakeObjective = std::function<std::unique_ptr<ObjectiveState>(std::vector<ProcessorIndex>)>;

/// Local search for a better mapping: first moves and swaps of the tasks at the bottleneck from every start, then from
/// the best of them annealing over moves and swaps, each chain rolled back to its best point, and the first search once
/// more. Never worse than the best start that keeps `bounds`; keeps the bounds where the start does. Equal arguments
/// give equal results, whatever the runner's width, unless interrupted. Bounded by `work` and O(edges) a start.
/// Precondition: a start.
std::vector<ProcessorIndex> improve_objective(const MakeObjective& make,
                                              std::vector<std::vector<ProcessorIndex>> starts, const LoadBounds& bounds,
                                              const ImproveOptions& options);

/// `multilevel` on zones where the objective is occupancy or time, or processors are to be chosen: improve_objective
/// from multilevel_on_zones on all zones and on the few fastest ones (down to one machine, one processor), and from
/// GLOBAL and HIER. Without a limit of tasks per processor nothing else bounds occupancy and time: what a processor has
/// to do is part of both.
Result<Mapping> map_by_objective(const TaskGraph& graph, const ResourceGraph& resources, const MapOptions& options);

/// The same on a tree, within `bounds`, from the mapping of least cost and METIS's.
std::vector<ProcessorIndex> map_by_objective_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                                                     const LoadBounds& bounds, const MapOptions& options);

}  // namespace zbs
