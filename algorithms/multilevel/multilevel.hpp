#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/base/task_runner.hpp"
#include "algorithms/multilevel/compact_graph.hpp"
#include "algorithms/multilevel/target_tree.hpp"

namespace zbs::multilevel {

enum class Level { kFast, kDefault, kStrong };

struct MultilevelOptions {
    Level level = Level::kDefault;
    std::uint64_t seed = 1;
    TaskRunner* runner = nullptr;       ///< not owned; null is serial
    std::function<bool()> out_of_time;  ///< asked now and then, from any thread; may be empty
    /// A leaf for every vertex, to be made better without cutting anew; null: none. Not owned.
    const std::vector<std::int32_t>* start = nullptr;
};

/// A leaf of the tree for every vertex, making the sum over edges of weight x distance small under the capacities of
/// the leaves; README.md explains the method. Leaves may come out overloaded only where vertices are too large to be
/// packed.
/// Equal graph, tree, level and seed give equal results whatever the runner's width, unless out_of_time returned true:
/// then the best found until then, a whole mapping. Time and memory near O(edges), times a factor of the level (about 1
/// : 6 : 50).
std::vector<std::int32_t> map(const CompactGraph& graph, const TargetTree& tree, const MultilevelOptions& options);

}  // namespace zbs::multilevel
