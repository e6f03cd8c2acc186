#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/model/processor_tree.hpp"

namespace zbs::multilevel {

/// The processors as the inner loops need them: integer distances and capacities. Groups below the root are numbered
/// leaves first (a leaf is its own group), then machines, then zones. Two leaves are `far` apart less the `bonus` of
/// every group that holds both: a group's bonus is its parent's distance less its own. So the cost of a vertex on leaf
/// b is far x degree - sum over groups g of b of bonus[g] x (weight to neighbours in g), which needs no loop over
/// pairs.
struct TargetTree {
    std::int32_t leaves = 0;
    std::int32_t levels = 0;             ///< groups that hold a leaf, itself included
    std::int32_t groups = 0;             ///< all of them
    std::vector<std::int32_t> ancestor;  ///< leaf x levels: ancestor[leaf * levels + l]; l = 0 is the leaf
    std::vector<std::int64_t> bonus;     ///< by group, may be negative when distances do not increase
    std::vector<std::int64_t> capacity;  ///< by leaf
    std::int64_t far = 0;
    /// Where pairs of top groups have distances of their own: far less their distance, by pair; else empty.
    std::vector<std::int64_t> top_gap;
    std::int32_t top_begin = 0;  ///< first top group
    std::int32_t top_count = 0;

    std::int32_t group_of(std::int32_t leaf, std::int32_t level) const {
        return ancestor[static_cast<std::size_t>(leaf) * static_cast<std::size_t>(levels) +
                        static_cast<std::size_t>(level)];
    }
    const std::int32_t* path(std::int32_t leaf) const {
        return ancestor.data() + static_cast<std::size_t>(leaf) * static_cast<std::size_t>(levels);
    }
    /// O(levels).
    std::int64_t distance(std::int32_t a, std::int32_t b) const;
};

/// Distances are scaled to integers where they are none or exceed 2^20; `capacity` has one entry a processor.
TargetTree make_target_tree(const ProcessorTree& tree, std::vector<std::int64_t> capacity);
/// Leaves only, all 1 apart: mapping onto it is partitioning for the edge cut.
TargetTree make_star(std::vector<std::int64_t> capacity);

}  // namespace zbs::multilevel
