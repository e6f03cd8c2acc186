#pragma once
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/metis_graph.hpp"

namespace zbs::formats {

/// Whether the text is a list of edges by its first line: MatrixMarket ("%%MatrixMarket ..."), or comments as the SNAP
/// collection has them ("# Nodes: ...", "# FromNodeId ...").
bool is_edge_list(std::string_view text);

/// The task graph of such a file: every task has the compute 1, the bytes of a pair are the sum of its entries in both
/// directions, entries of a task with itself are left out. MatrixMarket: a square matrix by coordinates, `pattern` (1
/// byte an entry), `integer` or `real` with values >= 0, `symmetric` or `general`. SNAP: two nodes a line, and
/// perhaps a weight; the nodes that are on a line become the tasks in the order of their ids. Warnings name ids with
/// gaps, and nodes or edges that the head promises and no line holds. Errors have `source:line` as pointer. Time
/// O(entries log entries), memory a fixed multiple of the text and of 100,000 tasks.
Result<GraphFile> read_edge_list(std::string_view text, const std::string& source);

}  // namespace zbs::formats
