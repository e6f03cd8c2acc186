#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::formats {

/// Largest task or edge weight of a graph file, 2^53: every whole number up to it is read exactly.
constexpr double kMaxGraphWeight = 9007199254740992.0;
/// Most edges of a graph file.
constexpr std::size_t kMaxGraphEdges = 500'000'000;

/// The task graph of a METIS (Chaco) `.graph` file: a header `tasks edges [fmt [ncon]]`, then one line a task with its
/// neighbours from 1. All forms of `fmt` with one to three digits: edge weights, task weights (`ncon` of them: the
/// first becomes the compute, the others are checked and dropped), vertex sizes (checked and dropped). A weight that is
/// not there is 1. Lines that begin with '%' or '#' are comments, an empty line is a task without neighbours; CRLF is
/// taken. Weights may have a fraction, as other tools write them.
///
/// Errors have `source:line` as pointer and say what to do; an edge whose two lines disagree is reported with both
/// lines. Time O(text + edges), where a task's neighbours are in order; memory O(tasks + edges) and never more than a
/// fixed multiple of the text, whatever the header promises.
Result<TaskGraph> read_metis_graph(std::string_view text, const std::string& source);

/// A graph, and what a user must know about how it was read.
struct GraphFile {
    TaskGraph graph;
    std::vector<std::string> warnings{};  ///< each reads behind the name of the file
};

/// A graph file of any kind that is known: METIS, also with tasks from 0, which files of other tools have; MatrixMarket
/// and SNAP (see edge_list.hpp). Errors as those of the readers.
Result<GraphFile> read_graph_file(std::string_view text, const std::string& source);

}  // namespace zbs::formats
