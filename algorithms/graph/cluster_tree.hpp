#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// Clusters within clusters, from all tasks (the root) down to single tasks (the leaves).
/// Every node owns the half-open range [begin, end) of `order`; the children of a node are consecutive in `nodes` and
/// split its range in order, so closely coupled tasks are close in `order`. A default-made tree has no nodes.
struct ClusterTree {
    struct Node {
        std::int32_t parent = -1;      ///< -1 for the root
        std::int32_t first_child = 0;  ///< index into `nodes`; meaningful where child_count > 0
        std::int32_t child_count = 0;  ///< 0 for a leaf, else >= 2
        std::int32_t begin = 0;        ///< first position in `order`
        std::int32_t end = 0;          ///< one past the last position
        bool operator==(const Node&) const = default;

        std::int32_t size() const { return end - begin; }
        bool is_leaf() const { return child_count == 0; }
    };
    static constexpr std::int32_t kRoot = 0;

    std::vector<Node> nodes;
    std::vector<TaskIndex> order;  ///< depth-first order of the leaves

    bool operator==(const ClusterTree&) const = default;

    const Node& node(std::int32_t index) const { return nodes[static_cast<std::size_t>(index)]; }
    /// The tasks below a node, in depth-first order.
    std::span<const TaskIndex> tasks(std::int32_t index) const {
        const Node& n = node(index);
        return {order.data() + n.begin, static_cast<std::size_t>(n.size())};
    }
    /// The task lists of a node's children; one list, its own, for a leaf. O(tasks below).
    std::vector<std::vector<TaskIndex>> clusters(std::int32_t index) const;
};

}  // namespace zbs
