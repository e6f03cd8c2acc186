#include "algorithms/mapping/zone_assignment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "algorithms/base/expects.hpp"
#include "algorithms/mapping/occupancy.hpp"

namespace zbs {
namespace {

constexpr double kSame = 1e-12;
constexpr double kBetter = 1 - 1e-9;
constexpr int kMaxPasses = 6;
constexpr std::size_t kSearchedStarts = 2;
constexpr std::size_t kMaxPartners = 48;  // clusters of a full zone tried for a swap
constexpr std::int32_t kFewZones = 8;     // up to so many zones, every one is a target
constexpr std::size_t kMaxTargets = 6;

/// Moves and swaps of one assignment until a whole pass finds none that pays.
class LocalSearch {
  public:
    LocalSearch(const ClusterGraph& clusters, const ZoneSet& zones, ZoneAssignment& assignment, std::int64_t& work)
        : clusters_(clusters), zones_(zones), assignment_(assignment), work_(work) {}

    void run() {
        bool moved = true;
        for (int pass = 0; pass < kMaxPasses && moved; ++pass) {
            moved = false;
            members_.assign(static_cast<std::size_t>(zones_.count()), {});
            for (std::int32_t c = 0; c < clusters_.count(); ++c)
                members_[static_cast<std::size_t>(assignment_.zone_of(c))].push_back(c);
            for (std::int32_t c = 0; c < clusters_.count() && work_ > 0; ++c) moved |= improve(c);
        }
    }

  private:
    bool improve(std::int32_t cluster) {
        const std::int32_t from = assignment_.zone_of(cluster);
        const bool urgent = assignment_.at_bottleneck(cluster);
        for (const std::int32_t to : targets(cluster)) {
            if (work_ <= 0) return false;
            work_ -= 1 + static_cast<std::int64_t>(clusters_.arcs_of(cluster).size());
            const double change = assignment_.link_time_change(cluster, to);
            if (assignment_.fits(cluster, to)) {
                if (!urgent && change >= 0) continue;
                const PlanCost before = assignment_.cost();
                relocate(cluster, to);
                if (assignment_.cost().better_than(before)) return true;
                relocate(cluster, from);
            } else if (change < 0 || urgent) {
                if (swap_with_any(cluster, to, change, urgent)) return true;
            }
        }
        return false;
    }

    bool swap_with_any(std::int32_t cluster, std::int32_t to, double change, bool urgent) {
        const std::int32_t from = assignment_.zone_of(cluster);
        const std::vector<std::int32_t>& others = members_[static_cast<std::size_t>(to)];
        const std::size_t stride = others.size() / kMaxPartners + 1;
        const std::int32_t size = clusters_.size[static_cast<std::size_t>(cluster)];
        for (std::size_t i = 0; i < others.size() && work_ > 0; i += stride) {
            const std::int32_t other = others[i];
            if (assignment_.zone_of(other) != to) continue;  // moved since the pass began
            const std::int32_t other_size = clusters_.size[static_cast<std::size_t>(other)];
            if (size - other_size > assignment_.free_slots(to) || other_size - size > assignment_.free_slots(from))
                continue;
            work_ -= 1 + static_cast<std::int64_t>(clusters_.arcs_of(other).size());
            if (!urgent && change + assignment_.link_time_change(other, from) >= 0) continue;
            const PlanCost before = assignment_.cost();
            exchange(cluster, other);
            if (assignment_.cost().better_than(before)) return true;
            exchange(cluster, other);
        }
        return false;
    }

    std::vector<std::int32_t> targets(std::int32_t cluster) const {
        const std::int32_t from = assignment_.zone_of(cluster);
        std::vector<std::int32_t> found;
        if (zones_.count() <= kFewZones) {
            for (std::int32_t z = 0; z < zones_.count(); ++z) {
                if (z != from) found.push_back(z);
            }
            return found;
        }
        std::vector<std::pair<double, std::int32_t>> ties;
        for (const ClusterGraph::Arc& arc : clusters_.arcs_of(cluster)) {
            const std::int32_t zone = assignment_.zone_of(arc.to);
            if (zone == from) continue;
            const double weight = link_seconds(zones_.link(from, zone), arc.bytes, arc.messages, clusters_.steps);
            const auto known = std::ranges::find(ties, zone, &std::pair<double, std::int32_t>::second);
            if (known == ties.end()) {
                ties.emplace_back(-weight, zone);
            } else {
                known->first -= weight;
            }
        }
        std::ranges::sort(ties);
        for (std::size_t i = 0; i < std::min(ties.size(), kMaxTargets); ++i) found.push_back(ties[i].second);
        const std::int32_t idlest = assignment_.idlest_zone_for(cluster);
        if (idlest >= 0 && idlest != from && std::ranges::find(found, idlest) == found.end()) found.push_back(idlest);
        return found;
    }

    void charge(std::int32_t cluster) { work_ -= 4 + 2 * static_cast<std::int64_t>(clusters_.arcs_of(cluster).size()); }
    void relocate(std::int32_t cluster, std::int32_t zone) {
        charge(cluster);
        assignment_.take(cluster);
        assignment_.place(cluster, zone);
    }
    void exchange(std::int32_t a, std::int32_t b) {
        const std::int32_t zone_a = assignment_.zone_of(a);
        const std::int32_t zone_b = assignment_.zone_of(b);
        charge(a);
        charge(b);
        assignment_.take(a);
        assignment_.take(b);
        assignment_.place(a, zone_b);
        assignment_.place(b, zone_a);
    }

    const ClusterGraph& clusters_;
    const ZoneSet& zones_;
    ZoneAssignment& assignment_;
    std::int64_t& work_;
    std::vector<std::vector<std::int32_t>> members_;
};

/// A way to give every cluster a zone, or false where some cluster finds no room.
using Start = std::function<bool(ZoneAssignment&)>;

bool fill_in_tree_order(const ClusterGraph& clusters, const ZoneSet& zones, ZoneAssignment& assignment) {
    std::vector<std::int32_t> by_slots(zones.slots.size());
    std::iota(by_slots.begin(), by_slots.end(), 0);
    std::ranges::stable_sort(by_slots, std::greater<>{},
                             [&](std::int32_t z) { return zones.slots[static_cast<std::size_t>(z)]; });
    std::size_t current = 0;
    for (std::int32_t c = 0; c < clusters.count(); ++c) {
        std::size_t tried = 0;
        while (tried < by_slots.size() && !assignment.fits(c, by_slots[(current + tried) % by_slots.size()])) ++tried;
        if (tried == by_slots.size()) return false;
        current = (current + tried) % by_slots.size();
        assignment.place(c, by_slots[current]);
    }
    return true;
}

bool spread_load(const ClusterGraph& clusters, const ZoneSet& zones, ZoneAssignment& assignment) {
    for (std::int32_t c = 0; c < clusters.count(); ++c) {
        double best_node = std::numeric_limits<double>::infinity();
        double best_tie = 0;
        std::int32_t best = -1;
        std::vector<double> tie(zones.slots.size(), 0);
        for (const ClusterGraph::Arc& arc : clusters.arcs_of(c)) {
            const std::int32_t zone = assignment.zone_of(arc.to);
            if (zone >= 0) tie[static_cast<std::size_t>(zone)] += arc.bytes + arc.messages;
        }
        for (std::int32_t z = 0; z < zones.count(); ++z) {
            if (!assignment.fits(c, z)) continue;
            const double node = assignment.node_with(c, z);
            const bool same = node <= best_node * (1 + kSame) && node >= best_node * (1 - kSame);
            if (same ? tie[static_cast<std::size_t>(z)] <= best_tie : node > best_node) continue;
            best_node = node;
            best_tie = tie[static_cast<std::size_t>(z)];
            best = z;
        }
        if (best < 0) return false;
        assignment.place(c, best);
    }
    return true;
}

bool largest_beside_friends(const ClusterGraph& clusters, const ZoneSet& zones, ZoneAssignment& assignment) {
    std::vector<std::int32_t> by_size(clusters.size.size());
    std::iota(by_size.begin(), by_size.end(), 0);
    std::ranges::stable_sort(by_size, std::greater<>{},
                             [&](std::int32_t c) { return clusters.size[static_cast<std::size_t>(c)]; });
    std::vector<double> tie(zones.slots.size());
    for (const std::int32_t c : by_size) {
        std::ranges::fill(tie, 0);
        for (const ClusterGraph::Arc& arc : clusters.arcs_of(c)) {
            const std::int32_t zone = assignment.zone_of(arc.to);
            if (zone >= 0) tie[static_cast<std::size_t>(zone)] += arc.bytes + arc.messages;
        }
        std::int32_t best = -1;
        for (std::int32_t z = 0; z < zones.count(); ++z) {
            if (!assignment.fits(c, z)) continue;
            if (best >= 0) {
                const double mine = tie[static_cast<std::size_t>(z)];
                const double other = tie[static_cast<std::size_t>(best)];
                if (mine < other || (mine == other && assignment.free_slots(z) <= assignment.free_slots(best)))
                    continue;
            }
            best = z;
        }
        if (best < 0) return false;
        assignment.place(c, best);
    }
    return true;
}

}  // namespace

ClusterGraph make_cluster_graph(const TaskGraph& graph, std::span<const std::int32_t> begins, double steps) {
    ClusterGraph made;
    made.steps = steps;
    const auto clusters = static_cast<std::int32_t>(begins.size());
    std::vector<std::int32_t> cluster_of(static_cast<std::size_t>(graph.task_count()));
    const auto end_of = [&](std::int32_t c) {
        return c + 1 < clusters ? begins[static_cast<std::size_t>(c) + 1] : graph.task_count();
    };
    made.lightest_task = *std::ranges::min_element(graph.compute());
    for (std::int32_t c = 0; c < clusters; ++c) {
        for (TaskIndex t = begins[static_cast<std::size_t>(c)]; t < end_of(c); ++t)
            cluster_of[static_cast<std::size_t>(t)] = c;
    }
    std::vector<std::size_t> arc_to(static_cast<std::size_t>(clusters),
                                    0);  // 1 + index into arcs, valid if in this cluster's range
    for (std::int32_t c = 0; c < clusters; ++c) {
        const std::size_t begin = made.arcs.size();
        double compute = 0;
        double heaviest = 0;
        double bytes = 0;
        double messages = 0;
        for (TaskIndex t = begins[static_cast<std::size_t>(c)]; t < end_of(c); ++t) {
            compute += graph.compute(t);
            heaviest = std::max(heaviest, graph.compute(t));
            for (const TaskGraph::Neighbour& n : graph.neighbours(t)) {
                const std::int32_t other = cluster_of[static_cast<std::size_t>(n.task)];
                if (other == c) {
                    if (n.task < t) continue;
                    bytes += n.bytes;
                    messages += n.messages;
                    continue;
                }
                std::size_t& slot = arc_to[static_cast<std::size_t>(other)];
                if (slot <= begin) {
                    made.arcs.push_back({.to = other});
                    slot = made.arcs.size();
                }
                made.arcs[slot - 1].bytes += n.bytes;
                made.arcs[slot - 1].messages += n.messages;
            }
        }
        made.size.push_back(end_of(c) - begins[static_cast<std::size_t>(c)]);
        made.compute.push_back(compute);
        made.heaviest.push_back(heaviest);
        made.inner_bytes.push_back(bytes);
        made.inner_messages.push_back(messages);
        made.offsets.push_back(made.arcs.size());
    }
    return made;
}

bool PlanCost::better_than(const PlanCost& other) const {
    if (node + edge < (other.node + other.edge) * kBetter) return true;
    return node + edge <= (other.node + other.edge) * (1 + kSame) && link_time < other.link_time * kBetter;
}

ZoneAssignment::ZoneAssignment(const ClusterGraph& clusters, const ZoneSet& zones)
    : clusters_(&clusters),
      zones_(&zones),
      zone_of_(clusters.size.size(), -1),
      tasks_(zones.slots.size(), 0),
      compute_(zones.slots.size(), 0),
      heaviest_(zones.slots.size()),
      edge_users_(zones.slots.size(), 0),
      node_(zones.slots.size()),
      edge_(zones.slots.size()) {}

double ZoneAssignment::seconds(std::int32_t a, std::int32_t b, double bytes, double messages) const {
    return link_seconds(zones_->link(a, b), bytes, messages, clusters_->steps);
}

double ZoneAssignment::node_occupancy(std::int32_t zone, std::int64_t tasks, double compute, double heaviest) const {
    if (tasks == 0) return 0;
    const ZoneAggregate& about = zones_->zones[static_cast<std::size_t>(zone)];
    // An aggregate hides single processors; as if speeds spread evenly over mean +- sqrt(3) deviations, which is exact
    // for equal speeds. With one task each, the slowest processor in use counts, else the fastest takes the heaviest
    // task.
    const double reach = std::sqrt(3 * std::max(0.0, about.speed_variance));
    const double used = static_cast<double>(std::min<std::int64_t>(tasks, about.processors)) / about.processors;
    const double speed =
        std::max(0.1 * about.speed_mean,
                 zones_->one_task_per_processor ? about.speed_mean + reach * (1 - 2 * used) : about.speed_mean + reach);
    // Tasks are whole: some processor runs at least tasks / processors of them, rounded up.
    const auto rounds = static_cast<double>((tasks + about.processors - 1) / about.processors);
    return std::max(
        {compute / about.speed_sum, heaviest / speed, rounds * clusters_->lightest_task / (about.speed_mean + reach)});
}

void ZoneAssignment::update_node(std::int32_t zone) {
    const auto z = static_cast<std::size_t>(zone);
    const double heaviest = heaviest_[z].empty() ? 0 : *heaviest_[z].rbegin();
    if (tasks_[z] == 0) compute_[z] = 0;
    node_.set(z, node_occupancy(zone, tasks_[z], compute_[z], heaviest));
}

double ZoneAssignment::node_with(std::int32_t cluster, std::int32_t zone) const {
    const auto c = static_cast<std::size_t>(cluster);
    const auto z = static_cast<std::size_t>(zone);
    const double heaviest = heaviest_[z].empty() ? 0 : *heaviest_[z].rbegin();
    return node_occupancy(zone, tasks_[z] + clusters_->size[c], compute_[z] + clusters_->compute[c],
                          std::max(heaviest, clusters_->heaviest[c]));
}

void ZoneAssignment::change_links(std::int32_t cluster, std::int32_t zone, int sign) {
    const auto c = static_cast<std::size_t>(cluster);
    link_time_ += sign * seconds(zone, zone, clusters_->inner_bytes[c], clusters_->inner_messages[c]);
    for (const ClusterGraph::Arc& arc : clusters_->arcs_of(cluster)) {
        const std::int32_t other = zone_of(arc.to);
        if (other < 0) continue;
        const double change = seconds(zone, other, arc.bytes, arc.messages);
        link_time_ += sign * change;
        if (other == zone) continue;
        for (const std::int32_t end : {zone, other}) {
            const auto edge = static_cast<std::size_t>(end);
            edge_users_[edge] += sign;
            edge_.set(edge, edge_users_[edge] == 0 ? 0 : std::max(0.0, edge_[edge] + sign * change));
        }
    }
}

void ZoneAssignment::place(std::int32_t cluster, std::int32_t zone) {
    const auto c = static_cast<std::size_t>(cluster);
    const auto z = static_cast<std::size_t>(zone);
    ZBS_EXPECTS(zone_of_[c] < 0);
    tasks_[z] += clusters_->size[c];
    compute_[z] += clusters_->compute[c];
    heaviest_[z].insert(clusters_->heaviest[c]);
    update_node(zone);
    change_links(cluster, zone, 1);
    zone_of_[c] = zone;
}

void ZoneAssignment::take(std::int32_t cluster) {
    const auto c = static_cast<std::size_t>(cluster);
    const std::int32_t zone = zone_of_[c];
    ZBS_EXPECTS(zone >= 0);
    const auto z = static_cast<std::size_t>(zone);
    zone_of_[c] = -1;
    tasks_[z] -= clusters_->size[c];
    compute_[z] -= clusters_->compute[c];
    heaviest_[z].erase(heaviest_[z].find(clusters_->heaviest[c]));
    update_node(zone);
    change_links(cluster, zone, -1);
}

bool ZoneAssignment::at_bottleneck(std::int32_t cluster) const {
    const std::int32_t zone = zone_of(cluster);
    if (node_[static_cast<std::size_t>(zone)] >= node_.max() * kBetter) return true;
    if (edge_.max() <= 0) return false;
    const auto worst = static_cast<std::int32_t>(edge_.argmax());
    return std::ranges::any_of(clusters_->arcs_of(cluster), [&](const ClusterGraph::Arc& arc) {
        const std::int32_t other = zone_of(arc.to);
        return other != zone && (zone == worst || other == worst);
    });
}

double ZoneAssignment::link_time_change(std::int32_t cluster, std::int32_t to, std::int32_t partner) const {
    const auto c = static_cast<std::size_t>(cluster);
    const std::int32_t from = zone_of(cluster);
    double change = seconds(to, to, clusters_->inner_bytes[c], clusters_->inner_messages[c]) -
                    seconds(from, from, clusters_->inner_bytes[c], clusters_->inner_messages[c]);
    for (const ClusterGraph::Arc& arc : clusters_->arcs_of(cluster)) {
        if (arc.to == partner) continue;
        const std::int32_t other = zone_of(arc.to);
        change += seconds(to, other, arc.bytes, arc.messages) - seconds(from, other, arc.bytes, arc.messages);
    }
    return change;
}

/// Node occupancy of the zone with this cluster and no other.
double ZoneAssignment::alone_in(std::int32_t cluster, std::int32_t zone) const {
    const auto c = static_cast<std::size_t>(cluster);
    return node_occupancy(zone, clusters_->size[c], clusters_->compute[c], clusters_->heaviest[c]);
}

PlanCost ZoneAssignment::exchange_bound(std::int32_t cluster, std::int32_t other, std::int32_t to) const {
    const std::int32_t from = zone_of(cluster);
    PlanCost bound{.node = alone_in(cluster, to), .link_time = link_time_ + link_time_change(cluster, to, other)};
    if (other >= 0) {
        bound.node = std::max(bound.node, alone_in(other, from));
        bound.link_time += link_time_change(other, from, cluster);
    }
    const auto most = static_cast<std::int32_t>(node_.argmax());
    if (most != from && most != to) bound.node = std::max(bound.node, node_.max());
    return bound;
}

std::int32_t ZoneAssignment::idlest_zone_for(std::int32_t cluster) const {
    std::int32_t best = -1;
    double best_node = std::numeric_limits<double>::infinity();
    for (std::int32_t z = 0; z < zones_->count(); ++z) {
        if (!fits(cluster, z)) continue;
        const double node = node_with(cluster, z);
        if (node >= best_node) continue;
        best_node = node;
        best = z;
    }
    return best;
}

std::optional<Assigned> assign_clusters(const ClusterGraph& clusters, const ZoneSet& zones, std::int64_t& work) {
    std::vector<Start> starts;
    std::optional<PlanCost> best_single;
    std::int32_t single = -1;
    const std::int64_t tasks = std::accumulate(clusters.size.begin(), clusters.size.end(), std::int64_t{0});
    for (std::int32_t z = 0; z < zones.count(); ++z) {
        if (tasks > zones.slots[static_cast<std::size_t>(z)]) continue;
        ZoneAssignment all_here(clusters, zones);
        std::int32_t c = 0;
        for (; c < clusters.count() && all_here.fits(c, z); ++c) all_here.place(c, z);
        if (c < clusters.count() || (best_single && !all_here.cost().better_than(*best_single))) continue;
        best_single = all_here.cost();
        single = z;
    }
    if (single >= 0) {
        starts.emplace_back([&](ZoneAssignment& assignment) {
            for (std::int32_t c = 0; c < clusters.count(); ++c) assignment.place(c, single);
            return true;
        });
    }
    starts.emplace_back([&](ZoneAssignment& assignment) { return fill_in_tree_order(clusters, zones, assignment); });
    starts.emplace_back([&](ZoneAssignment& assignment) { return spread_load(clusters, zones, assignment); });
    starts.emplace_back(
        [&](ZoneAssignment& assignment) { return largest_beside_friends(clusters, zones, assignment); });

    std::vector<ZoneAssignment> found;
    for (const Start& start : starts) {
        ZoneAssignment assignment(clusters, zones);
        if (start(assignment)) found.push_back(std::move(assignment));
    }
    work -= static_cast<std::int64_t>(starts.size() * (clusters.arcs.size() + clusters.size.size()));
    // The search costs far more than a start, and a start that is behind seldom wins.
    std::ranges::stable_sort(found, {}, [](const ZoneAssignment& a) { return a.cost().node + a.cost().edge; });
    std::optional<Assigned> best;
    for (std::size_t i = 0; i < std::min(found.size(), kSearchedStarts); ++i) {
        LocalSearch(clusters, zones, found[i], work).run();
        if (!best || found[i].cost().better_than(best->cost)) {
            best = Assigned{found[i].zone_of_cluster(), found[i].cost()};
        }
    }
    return best;
}

}  // namespace zbs
