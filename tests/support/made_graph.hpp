#pragma once
#include <utility>
#include <vector>

#include "algorithms/base/expects.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::test {

/// A graph of values that are known to be good.
inline TaskGraph made(std::vector<double> compute, std::vector<TaskEdge> edges) {
    auto graph = TaskGraph::make(std::move(compute), std::move(edges));
    ZBS_EXPECTS(graph.has_value());
    return *std::move(graph);
}

}  // namespace zbs::test
