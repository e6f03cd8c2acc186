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

}  // namespace zbs
