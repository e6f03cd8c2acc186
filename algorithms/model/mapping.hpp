#pragma once
#include <ostream>
#include <vector>

#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// Which processor each task runs on; `processor_of[task]` indexes processors of one ResourceGraph.
/// Several tasks may share a processor.
struct Mapping {
    std::vector<ProcessorIndex> processor_of;
    bool operator==(const Mapping&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Mapping& mapping);

/// How good a mapping is, recomputed from scratch. What `zbs map --format json` prints.
struct MappingReport {
    double occupancy = 0;  ///< largest relative load of any processor or link (Taura), seconds
    double cost = 0;  ///< sum over pairs of bytes x distance, with 0 on one processor, else the link's delay relative
                      ///< to the smallest one
    double imbalance = 0;  ///< largest (compute / speed) of a processor over the average of all, minus 1; 0 is even
    double inter_zone_bytes = 0;  ///< bytes of pairs whose ends are in different zones
    bool operator==(const MappingReport&) const = default;
};

/// How good a mapping onto a ProcessorTree is, recomputed from scratch.
struct TreeReport {
    /// Sum over edges of bytes x distance of their processors; each edge once.
    double cost = 0;
    /// The largest of: compute / speed of a processor; over the groups below the root, bytes that cross the group's
    /// border x the distance in its parent (with distances of their own between top groups, of the pair).
    double occupancy = 0;
    /// Largest compute of a processor over its share by speed, minus 1; 0 is even.
    double imbalance = 0;
    bool feasible = true;  ///< no processor is above its bound
    bool operator==(const TreeReport&) const = default;
};

}  // namespace zbs
