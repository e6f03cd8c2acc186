#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/graph/cluster_tree.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// All that a zone announces about itself for one user: the home scheduler plans with it [Prabhakar2003, section
/// 4.4.2]. Counts only processors this user may use now; a zone of 0 processors takes nothing.
struct ZoneAggregate {
    std::string name;
    int processors = 0;         ///< >= 0
    double speed_sum = 0;       ///< sum over those processors
    double speed_mean = 0;      ///< speed_sum / processors; 0 without processors
    double speed_variance = 0;  ///< population variance of their speeds; the thesis's zones send none, see README
    int largest_machine = 0;    ///< most processors on one machine
    Link within_zone;
    bool operator==(const ZoneAggregate&) const = default;
};

/// The aggregates of all zones, every processor counted. O(machines).
std::vector<ZoneAggregate> aggregate_zones(const ResourceGraph& resources);
/// zone_count x zone_count links, row by row, as map_clusters_to_zones wants them.
std::vector<Link> links_between_zones(const ResourceGraph& resources);

/// Level 1 of HIER: which cluster runs in which zone. `clusters` are disjoint, cover all tasks and are nodes of the
/// cluster tree.
struct ZonePlan {
    std::vector<std::int32_t> zone_of_task;
    std::vector<std::vector<TaskIndex>> clusters;
    std::vector<std::int32_t> zone_of_cluster;
    double node_occupancy = 0;  ///< largest of any zone, seconds per step
    double edge_occupancy = 0;  ///< largest of any zone's links to all others together, seconds per step
    bool operator==(const ZonePlan&) const = default;
};

/// Maps clusters to zones and picks their granularity [Prabhakar2003, sections 4.4.2 and 5.4.3]: it starts with the
/// coarsest clusters that fit, and descends a level of the tree only where the loss in edge occupancy does not outweigh
/// the gain in node occupancy, that is where their sum falls; of equal sums, the one with less link time in all. No
/// zone gets more tasks than it has slots. Edge occupancy is that of a zone's way out, all its pairs together: counted
/// pair by pair, as in the thesis, cutting one cluster over many zones would look better than keeping it whole. For two
/// zones there is no difference. `between` is zone_count x zone_count, symmetric; the diagonal is ignored. Errors,
/// kInvalidArgument: no zones, a negative limit, more tasks than slots in all. Precondition: the tree is of this graph.
/// O(levels x (edges log zones + clusters x zones)).
Result<ZonePlan> map_clusters_to_zones(const TaskGraph& graph, const ClusterTree& tree,
                                       std::span<const ZoneAggregate> zones, std::span<const Link> between,
                                       const MapOptions& options);

/// Zone of each of `tasks` tasks without a profile: consecutive tasks together, as few zones as possible, the last zone
/// the smallest that suffices. Without a limit of tasks per processor, one each where they fit, else evenly. Errors as
/// above. O(tasks + zones log zones).
Result<std::vector<std::int32_t>> place_blocks(int tasks, std::span<const ZoneAggregate> zones,
                                               const MapOptions& options);

/// Bytes of all pairs in different zones. O(edges). Precondition: a zone for every task.
double inter_zone_bytes(const TaskGraph& graph, std::span<const std::int32_t> zone_of_task);

}  // namespace zbs
