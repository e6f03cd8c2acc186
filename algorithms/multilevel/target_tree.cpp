#include "algorithms/multilevel/target_tree.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zbs::multilevel {

std::int64_t TargetTree::distance(std::int32_t a, std::int32_t b) const {
    if (a == b) return 0;
    std::int64_t d = far;
    for (std::int32_t l = 0; l < levels; ++l) {
        if (group_of(a, l) == group_of(b, l)) d -= bonus[static_cast<std::size_t>(group_of(a, l))];
    }
    if (!top_gap.empty()) {
        const std::int32_t za = group_of(a, levels - 1) - top_begin, zb = group_of(b, levels - 1) - top_begin;
        if (za != zb)
            d -= top_gap[static_cast<std::size_t>(za) * static_cast<std::size_t>(top_count) +
                         static_cast<std::size_t>(zb)];
    }
    return d;
}

TargetTree make_target_tree(const ProcessorTree& tree, std::vector<std::int64_t> capacity) {
    const auto groups = tree.groups();
    const std::int32_t top_count = groups[0].child_count;
    double largest = 0;
    bool integers = true;
    const auto look = [&](double d) {
        largest = std::max(largest, d);
        integers = integers && d == std::floor(d);
    };
    for (const auto& group : groups) look(group.distance);
    if (tree.top_distances_differ()) {
        for (std::int32_t a = 0; a < top_count; ++a)
            for (std::int32_t b = 0; b < top_count; ++b)
                if (a != b) look(tree.top_distance(a, b));
    }
    constexpr double kLimit = 1 << 20;
    const double scale = integers && largest <= kLimit ? 1 : largest > 0 ? kLimit / largest : 1;
    const auto scaled = [&](double d) { return static_cast<std::int64_t>(std::llround(d * scale)); };

    TargetTree target;
    const int depth = tree.levels();
    target.leaves = tree.processor_count();
    target.levels = depth;
    target.groups = static_cast<std::int32_t>(groups.size()) - 1;
    target.capacity = std::move(capacity);
    target.bonus.resize(static_cast<std::size_t>(target.groups));
    target.ancestor.resize(static_cast<std::size_t>(target.leaves) * static_cast<std::size_t>(depth));
    // Groups of the processor tree are root first, leaves last; here leaves come first.
    std::vector<std::int32_t> number(groups.size(), -1);
    std::int32_t next = 0;
    for (int d = depth; d >= 1; --d) {
        const std::int32_t begin = tree.first_group(d);
        const std::int32_t end = d == depth ? static_cast<std::int32_t>(groups.size()) : tree.first_group(d + 1);
        if (d == 1) target.top_begin = next;
        for (std::int32_t g = begin; g < end; ++g) number[static_cast<std::size_t>(g)] = next++;
    }
    target.far = scaled(groups[0].distance);
    for (std::size_t g = 1; g < groups.size(); ++g) {
        target.bonus[static_cast<std::size_t>(number[g])] =
            scaled(groups[static_cast<std::size_t>(groups[g].parent)].distance) - scaled(groups[g].distance);
    }
    for (std::int32_t leaf = 0; leaf < target.leaves; ++leaf) {
        for (int l = 0; l < depth; ++l) {
            target.ancestor[static_cast<std::size_t>(leaf) * static_cast<std::size_t>(depth) +
                            static_cast<std::size_t>(l)] =
                number[static_cast<std::size_t>(tree.group_of(leaf, depth - l))];
        }
    }
    target.top_count = top_count;
    if (tree.top_distances_differ()) {
        target.top_gap.assign(static_cast<std::size_t>(top_count) * static_cast<std::size_t>(top_count), 0);
        for (std::int32_t a = 0; a < top_count; ++a)
            for (std::int32_t b = 0; b < top_count; ++b)
                if (a != b)
                    target.top_gap[static_cast<std::size_t>(a) * static_cast<std::size_t>(top_count) +
                                   static_cast<std::size_t>(b)] = target.far - scaled(tree.top_distance(a, b));
    }
    return target;
}

TargetTree make_star(std::vector<std::int64_t> capacity) {
    TargetTree target;
    target.leaves = target.groups = target.top_count = static_cast<std::int32_t>(capacity.size());
    target.levels = 1;
    target.far = 1;
    target.capacity = std::move(capacity);
    target.bonus.assign(static_cast<std::size_t>(target.leaves), 1);
    target.ancestor.resize(static_cast<std::size_t>(target.leaves));
    for (std::int32_t leaf = 0; leaf < target.leaves; ++leaf) target.ancestor[static_cast<std::size_t>(leaf)] = leaf;
    return target;
}

}  // namespace zbs::multilevel
