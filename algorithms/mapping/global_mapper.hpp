#pragma once
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/occupancy.hpp"

namespace zbs {

/// GLOBAL, after [TauraChien2000, Prabhakar2003, section 4.4.1]: walk the processors in order and give each the next
/// few tasks of the cluster tree, then improve at the bottleneck. Knows nothing of zones: where a zone ends, a cluster
/// may be cut. O(processors x tasks tried x degree x log) for the walk; the walk stops trying where more tasks cannot
/// pay.
class GlobalMapper final : public Mapper {
  public:
    std::string_view name() const override { return "global"; }
    Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                        const MapOptions& options) const override;
};

/// The walk: tasks 0, 1, 2, ... of the state's graph (number them in cluster-tree order first) onto processors 0, 1, 2,
/// .... Each processor takes the n tasks with the smallest max(occupancy so far, hypothetical compute occupancy of the
/// rest on the processors left, hypothetical occupancy of the links to them by the traffic that would cross); of equals
/// the largest n. Precondition: nothing assigned, tasks fit the slots.
void map_in_order(OccupancyState& state, const MapOptions& options);

/// Takes tasks off the most occupied resource, by moves and (where processors are full) swaps, towards their neighbours
/// or idle processors, while that lowers the occupancy or the number of resources that reach it. Never worsens the
/// occupancy. Then moves and swaps inside zones that raise no occupancy and lower the time of all links
/// together. Returns the number
/// of steps taken. Precondition: everything assigned. O(steps x edges), at most `kMaxImprovements` steps, and fewer
/// where graphs are so dense or tasks on a processor so many that steps take long.
int improve(OccupancyState& state, const MapOptions& options);
inline constexpr int kMaxImprovements = 512;

}  // namespace zbs
