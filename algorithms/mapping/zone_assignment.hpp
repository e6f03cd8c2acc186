#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "algorithms/mapping/trees/max_tree.hpp"
#include "algorithms/mapping/zone_planner.hpp"

namespace zbs {

/// The aggregated task graph of level 1: one vertex per cluster.
struct ClusterGraph {
    struct Arc {
        std::int32_t to = 0;
        double bytes = 0;
        double messages = 0;
    };
    std::vector<std::int32_t> size;  ///< tasks
    std::vector<double> compute;     ///< sum over its tasks
    std::vector<double> heaviest;    ///< largest compute of a task
    std::vector<double> inner_bytes;
    std::vector<double> inner_messages;
    std::vector<std::size_t> offsets = {0};
    std::vector<Arc> arcs;
    double lightest_task = 0;  ///< over the whole graph
    double steps = 1;

    std::int32_t count() const { return static_cast<std::int32_t>(size.size()); }
    std::span<const Arc> arcs_of(std::int32_t cluster) const {
        const auto c = static_cast<std::size_t>(cluster);
        return {arcs.data() + offsets[c], arcs.data() + offsets[c + 1]};
    }
};
/// Clusters are consecutive ranges of tasks: cluster i is [begins[i], begins[i + 1]). O(tasks + edges).
ClusterGraph make_cluster_graph(const TaskGraph& graph, std::span<const std::int32_t> begins, double steps);

/// What level 1 maps onto.
struct ZoneSet {
    std::span<const ZoneAggregate> zones;
    std::span<const Link> between;
    std::vector<std::int64_t> slots;
    bool one_task_per_processor = false;

    std::int32_t count() const { return static_cast<std::int32_t>(zones.size()); }
    const Link& link(std::int32_t a, std::int32_t b) const {
        return a == b ? zones[static_cast<std::size_t>(a)].within_zone
                      : between[static_cast<std::size_t>(a) * zones.size() + static_cast<std::size_t>(b)];
    }
};

/// Largest node occupancy plus largest edge occupancy decides; then the link time in all, inside zones included.
struct PlanCost {
    double node = 0;
    double edge = 0;
    double link_time = 0;
    bool better_than(const PlanCost& other) const;
};

/// A zone for each cluster, with the cost kept up to date.
class ZoneAssignment {
  public:
    ZoneAssignment(const ClusterGraph& clusters, const ZoneSet& zones);

    void place(std::int32_t cluster, std::int32_t zone);  ///< precondition: not placed; O(degree log zones)
    void take(std::int32_t cluster);                      ///< precondition: placed; O(degree log zones)
    bool fits(std::int32_t cluster, std::int32_t zone) const {
        return tasks_[static_cast<std::size_t>(zone)] + clusters_->size[static_cast<std::size_t>(cluster)] <=
               zones_->slots[static_cast<std::size_t>(zone)];
    }
    std::int64_t free_slots(std::int32_t zone) const {
        return zones_->slots[static_cast<std::size_t>(zone)] - tasks_[static_cast<std::size_t>(zone)];
    }
    std::int32_t zone_of(std::int32_t cluster) const { return zone_of_[static_cast<std::size_t>(cluster)]; }
    const std::vector<std::int32_t>& zone_of_cluster() const { return zone_of_; }
    PlanCost cost() const { return {node_.max(), edge_.max(), link_time_}; }
    /// Node occupancy of the zone if the cluster joined it.
    double node_with(std::int32_t cluster, std::int32_t zone) const;
    /// True where the cluster uses the most occupied zone or way out of a zone.
    bool at_bottleneck(std::int32_t cluster) const;
    /// Change of the link time if the cluster moved to `to`, everything else in place. O(degree).
    double link_time_change(std::int32_t cluster, std::int32_t to) const { return link_time_change(cluster, to, -1); }
    /// What `cost` would be at least, but for the edge, if a cluster that has its zone for itself exchanged zones with
    /// `other`, the only one in `to`; with -1 if it moved to `to`, which is empty. O(degree of both).
    PlanCost exchange_bound(std::int32_t cluster, std::int32_t other, std::int32_t to) const;
    std::int32_t idlest_zone_for(std::int32_t cluster) const;  ///< -1 where none has room; O(zones)

  private:
    void update_node(std::int32_t zone);
    double node_occupancy(std::int32_t zone, std::int64_t tasks, double compute, double heaviest) const;
    double alone_in(std::int32_t cluster, std::int32_t zone) const;
    void change_links(std::int32_t cluster, std::int32_t zone, int sign);
    /// The link to `partner`, which takes the place of the cluster, stays between the two zones.
    double link_time_change(std::int32_t cluster, std::int32_t to, std::int32_t partner) const;
    double seconds(std::int32_t a, std::int32_t b, double bytes, double messages) const;

    const ClusterGraph* clusters_;  // pointers, so that assignments can be sorted
    const ZoneSet* zones_;
    std::vector<std::int32_t> zone_of_;
    std::vector<std::int64_t> tasks_;
    std::vector<double> compute_;
    std::vector<std::multiset<double>> heaviest_;
    std::vector<std::int64_t> edge_users_;
    MaxTree node_;  // by zone
    MaxTree edge_;  // by zone: its traffic to all others
    double link_time_ = 0;
};

/// The best assignment found for clusters of this granularity; nothing where they cannot be packed into the zones.
/// Four starts (all in one zone; fill zones in tree order; spread the load; largest first beside its friends), the
/// best two of them improved by moves and swaps. O(starts x passes x (edges log zones + clusters x zones)). `work` is
/// counted down by visits of arcs and zones; moves and swaps end where none is left.
struct Assigned {
    std::vector<std::int32_t> zone_of_cluster;
    PlanCost cost;
};
std::optional<Assigned> assign_clusters(const ClusterGraph& clusters, const ZoneSet& zones, std::int64_t& work);

}  // namespace zbs
