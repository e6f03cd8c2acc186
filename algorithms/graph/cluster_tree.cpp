#include "algorithms/graph/cluster_tree.hpp"

namespace zbs {

std::vector<std::vector<TaskIndex>> ClusterTree::clusters(std::int32_t index) const {
    const Node& parent = node(index);
    std::vector<std::vector<TaskIndex>> lists;
    if (parent.is_leaf()) {
        const auto own = tasks(index);
        lists.emplace_back(own.begin(), own.end());
    }
    for (std::int32_t child = 0; child < parent.child_count; ++child) {
        const auto own = tasks(parent.first_child + child);
        lists.emplace_back(own.begin(), own.end());
    }
    return lists;
}

std::ostream& operator<<(std::ostream& out, const ClusterTree& tree) {
    // Every leaf opens the clusters that begin at it and closes those that end at it; no recursion, trees may be deep.
    std::vector<int> opens(tree.order.size() + 1, 0);
    std::vector<int> closes(tree.order.size() + 1, 0);
    for (const ClusterTree::Node& node : tree.nodes) {
        if (node.is_leaf()) continue;
        ++opens[static_cast<std::size_t>(node.begin)];
        ++closes[static_cast<std::size_t>(node.end)];
    }
    for (std::size_t i = 0; i < tree.order.size(); ++i) {
        if (i > 0) out << ' ';
        for (int k = 0; k < opens[i]; ++k) out << '(';
        out << tree.order[i];
        for (int k = 0; k < closes[i + 1]; ++k) out << ')';
    }
    return out;
}

}  // namespace zbs
