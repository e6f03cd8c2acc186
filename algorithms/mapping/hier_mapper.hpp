#pragma once
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/zone_planner.hpp"

namespace zbs {

/// HIER [Prabhakar2003, section 4.4.2]: clusters onto zones by the aggregates that zones announce (level1 "multilevel":
/// tasks onto zones by divide_among_groups, instead), then each zone's tasks onto its processors by `options.level2`.
/// With more levels: on a single zone HIER maps clusters onto machines and then tasks onto each machine's processors
/// (where it has up to 256 machines, some with several processors), so level2 = "hier" gives zone, machine, processor.
/// O(edges log tasks) a level of the cluster tree, plus level 2 on each zone alone.
class HierMapper final : public Mapper {
  public:
    std::string_view name() const override { return "hier"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

}  // namespace zbs
