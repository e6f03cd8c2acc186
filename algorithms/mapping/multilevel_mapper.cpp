#include "algorithms/mapping/multilevel_mapper.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/objective.hpp"
#include "algorithms/mapping/objective_search.hpp"
#include "algorithms/mapping/whole_number.hpp"
#include "algorithms/multilevel/multilevel.hpp"

namespace zbs {
namespace {

constexpr double kEdgeSum = 1 << 30;  // of all edge weights; arcs count twice
constexpr double kLoadSum = static_cast<double>(1LL << 40);

constexpr TaskIndex kLargestRoomy = 2'000;  // above it GLOBAL and HIER take too long to be starts

constexpr double kLargestScale = 1e300;  // of sums near the least double, whose inverse is none

multilevel::CompactGraph compact(const TaskGraph& graph, const LoadBounds& bounds, double& load_scale) {
    double traffic = 0, largest = 0, load = 0;
    bool whole_traffic = true, whole_load = true;
    for (const TaskEdge& edge : graph.edges()) {
        traffic += edge.bytes;
        largest = std::max(largest, edge.bytes);
        whole_traffic = whole_traffic && is_whole(edge.bytes);
    }
    for (TaskIndex t = 0; t < graph.task_count(); ++t) {
        const double size = bounds.size(graph, t);
        load += size;
        whole_load = whole_load && is_whole(size);
    }
    // One edge far above all others together is kept whole in any case; at its true size it would leave no digits for
    // them.
    constexpr double kFarAbove = 1000;
    double most = largest;
    if (traffic > kEdgeSum && traffic > largest && largest > kFarAbove * (traffic - largest)) {
        const double others = traffic - largest;
        most = kFarAbove * others;
        traffic = others + most;
        whole_traffic = whole_traffic && is_whole(most);
    }
    const double scale = whole_traffic && traffic <= kEdgeSum ? 1 : std::min(kEdgeSum / traffic, kLargestScale);
    load_scale = whole_load && load <= kLoadSum ? 1 : std::min(kLoadSum / load, kLargestScale);

    multilevel::CompactGraph small;
    const auto tasks = static_cast<std::size_t>(graph.task_count());
    small.weight.resize(tasks);
    small.offsets.resize(tasks + 1);
    small.arcs.reserve(2 * graph.edge_count());
    for (TaskIndex t = 0; t < graph.task_count(); ++t) {
        const auto i = static_cast<std::size_t>(t);
        // Rounded up, so that what fits here fits there.
        const double size = load > 0 ? bounds.size(graph, t) : 1;
        small.weight[i] = static_cast<std::int64_t>(std::ceil(size * (load > 0 ? load_scale : 1)));
        small.total += small.weight[i];
        small.heaviest = std::max(small.heaviest, small.weight[i]);
        for (const TaskGraph::Neighbour& next : graph.neighbours(t)) {
            if (next.bytes <= 0) continue;
            small.arcs.push_back({next.task, static_cast<std::int32_t>(
                                                 std::max(1LL, std::llround(std::min(next.bytes, most) * scale)))});
        }
        small.offsets[i + 1] = static_cast<std::uint32_t>(small.arcs.size());
    }
    if (load <= 0) load_scale = 0;
    return small;
}

multilevel::Level level_of(Preset preset) {
    switch (preset) {
        case Preset::kFast:
            return multilevel::Level::kFast;
        case Preset::kDefault:
            return multilevel::Level::kDefault;
        case Preset::kStrong:
            return multilevel::Level::kStrong;
    }
    return multilevel::Level::kDefault;
}

/// One search within `bounds`; false where the mapping does not keep them.
bool search_on_tree(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds,
                    const MapOptions& options, const std::vector<ProcessorIndex>* start,
                    std::vector<ProcessorIndex>& processor_of) {
    double load_scale = 1;
    const multilevel::CompactGraph small = compact(graph, bounds, load_scale);
    std::vector<std::int64_t> capacity(bounds.most.size());
    const double each =
        std::ceil(1.03 * static_cast<double>(graph.task_count()) / static_cast<double>(capacity.size()));
    for (std::size_t p = 0; p < capacity.size(); ++p) {
        // Tasks without any load fit everywhere; they are spread by number.
        const double most = load_scale > 0 ? std::floor(bounds.most[p] * load_scale * (1 + 1e-12)) : each;
        capacity[p] = static_cast<std::int64_t>(std::min(most, 4e18 / static_cast<double>(capacity.size())));
    }
    processor_of = multilevel::map(small, multilevel::make_target_tree(tree, std::move(capacity)),
                                   {.level = level_of(options.preset),
                                    .seed = options.seed,
                                    .runner = options.runner,
                                    .out_of_time = options.out_of_time,
                                    .start = start});
    return keep_bounds(graph, tree, bounds, processor_of);
}

/// The bounds, times what `processor_of` exceeds them by, or a packing that puts the largest task where the share of
/// the bound in use is least, whichever is less.
LoadBounds raised_bounds(const TaskGraph& graph, const LoadBounds& bounds,
                         const std::vector<ProcessorIndex>& processor_of) {
    std::vector<TaskIndex> by_size(static_cast<std::size_t>(graph.task_count()));
    std::iota(by_size.begin(), by_size.end(), 0);
    std::ranges::stable_sort(by_size, std::greater<>{}, [&](TaskIndex t) { return bounds.size(graph, t); });
    std::priority_queue<std::pair<double, std::size_t>, std::vector<std::pair<double, std::size_t>>, std::greater<>>
        emptiest;
    std::vector<double> found(bounds.most.size(), 0), packed(bounds.most.size(), 0);
    for (std::size_t p = 0; p < bounds.most.size(); ++p)
        if (bounds.most[p] > 0) emptiest.emplace(0, p);
    if (emptiest.empty()) return bounds;
    double found_share = 0, packed_share = 0;
    for (const TaskIndex task : by_size) {
        const double size = bounds.size(graph, task);
        const auto at = static_cast<std::size_t>(processor_of[static_cast<std::size_t>(task)]);
        found[at] += size;
        if (size > 0) found_share = std::max(found_share, found[at] / bounds.most[at]);
        const std::size_t p = emptiest.top().second;
        emptiest.pop();
        packed[p] += size;
        packed_share = std::max(packed_share, packed[p] / bounds.most[p]);
        emptiest.emplace(packed[p] / bounds.most[p], p);
    }
    LoadBounds raised = bounds;
    for (double& most : raised.most) most *= std::max(1.0, std::min(found_share, packed_share)) * (1 + 1e-12);
    return raised;
}

}  // namespace

std::vector<ProcessorIndex> multilevel_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                                               const LoadBounds& bounds, const MapOptions& options,
                                               const std::vector<ProcessorIndex>* start) {
    std::vector<ProcessorIndex> processor_of;
    if (graph.task_count() == 0 || search_on_tree(graph, tree, bounds, options, start, processor_of))
        return processor_of;
    // The bounds cannot be kept, or nearly so: within those that can be, there is more to search.
    const LoadBounds raised = raised_bounds(graph, bounds, processor_of);
    std::vector<ProcessorIndex> within;
    const bool kept = search_on_tree(graph, tree, raised, options, start, within);
    if (!kept) return processor_of;
    const TreeReport before = evaluate_on_tree(graph, tree, processor_of, raised);
    const TreeReport after = evaluate_on_tree(graph, tree, within, raised);
    return before.feasible && before.cost <= after.cost ? processor_of : within;
}

Mapping multilevel_on_zones(const TaskGraph& graph, const ResourceGraph& resources, const MapOptions& options) {
    const WeighedTraffic weighed = weigh_traffic(graph, resources, options.weigh_messages);
    return {multilevel_on_tree(weighed.graph, weighed.tree, load_bounds(graph, weighed.tree, options), options)};
}

bool is_roomy(TaskIndex tasks, const ResourceGraph& resources, const MapOptions& options) {
    return options.max_tasks_per_processor > 0 && tasks <= kLargestRoomy &&
           options.slots(resources.processor_count()) > tasks / 3 * 4;
}

Result<Mapping> MultilevelMapper::map(const TaskGraph& graph, const ResourceGraph& resources,
                                      const MapOptions& options) const {
    if (auto ok = check_slots(graph.task_count(), resources.processor_count(), options); !ok) return ok.error();
    if (options.objective != Objective::kCost || is_roomy(graph.task_count(), resources, options))
        return map_by_objective(graph, resources, options);
    return multilevel_on_zones(graph, resources, options);
}

}  // namespace zbs
