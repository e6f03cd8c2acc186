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
    TaskRunner* runner = nullptr;  ///< not owned; null is serial
    std::function<bool()> out_of_time;
};

/// Maps a graph onto the leaves of a tree. See README.md.
std::vector<std::int32_t> map(const CompactGraph& graph, const TargetTree& tree, const MultilevelOptions& options);

}  // namespace zbs::multilevel
