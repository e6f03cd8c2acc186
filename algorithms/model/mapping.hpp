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

}  // namespace zbs
