#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"

namespace zbs {

/// Level 1 by our own mapper: which child of the tree's root (zone) each task goes to. Of a child it knows only the
/// `outline` and the sum of its bounds. Of the capacity above the load a level takes its even share and leaves the rest
/// to those below; with ample capacity, as few children as hold the tasks are filled.
std::vector<std::int32_t> divide_among_groups(const TaskGraph& graph, const ProcessorTree& tree,
                                              const LoadBounds& bounds, const MapOptions& options);

/// HIER on a tree of any depth: divide_among_groups at the root, then each child alone: by `multilevel` on all of it at
/// once, or, with level2 "hier", the same way level by level. No search sees more than one group at a time. Parts are
/// mapped side by side where options.runner allows.
std::vector<ProcessorIndex> hier_on_tree(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds,
                                         const MapOptions& options);

}  // namespace zbs
