#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/graph/cluster_tree.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

struct ClusteringOptions {
    std::uint64_t seed = 1;
    double alpha = 10;       ///< the papers' A: length of an edge is exp(alpha x saturation); in (0, 100]
    double injection = 0.3;  ///< the papers' F: largest portion of flow, relative to the mean capacity; in (0, 1]
    double tolerance =
        1.25;  ///< prefer more clusters while their cluster ratio is within this factor of the best; >= 1
    bool weigh_messages = true;  ///< equal bytes in more messages are a tighter tie
};

/// How tightly each pair is tied, one value for each of `graph.edges()`, >= 0.
/// With `weigh_messages`: max(bytes, messages) x (1 + log10(messages / fewest messages of any pair)), so ten times the
/// messages count double, the factor used in [Prabhakar2003, section 5.4.2], and an empty message still ties. Without:
/// bytes. O(edges).
std::vector<double> edge_weight(const TaskGraph& graph, bool weigh_messages = true);

/// Clusters of tasks that belong together, found by recursive shortest-path clustering (stochastic flow injection)
/// [YehChengLin1995, Prabhakar2003, section 4.4.1]. Unconnected parts separate first; pairs of weight 0 count as
/// unconnected. Among siblings, the one tied most to the tasks before it in the walk comes next; the very
/// first is the one with most traffic to its siblings. Depends on the graph and the seed only: renumbered tasks give
/// the same clusters unless tasks are mirror images of each other. Near-linear: O(edges log tasks) a level of the tree,
/// plus flow on graphs of at most a few hundred vertices. Precondition: options in range. An empty graph gives an empty
/// tree.
ClusterTree make_cluster_tree(const TaskGraph& graph, const ClusteringOptions& options = {});

}  // namespace zbs
