#include "algorithms/mapping/best_mapper.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/metis_multisection.hpp"
#include "algorithms/mapping/multilevel_mapper.hpp"
#include "algorithms/mapping/objective.hpp"
#include "algorithms/mapping/objective_search.hpp"
#include "algorithms/mapping/occupancy.hpp"
#include "algorithms/mapping/trees/grid_tilings.hpp"
#include "algorithms/mapping/trees/tree_baselines.hpp"

namespace zbs {
namespace {

constexpr double kSmaller = 1 - 1e-9;
// HIER is asked where it takes no longer than the others.
constexpr TaskIndex kMostTasksOfHier = 2'000;
constexpr std::size_t kMostEdgesOfHier = 100'000;
constexpr TaskIndex kMostTasksOfGlobal = 200;  // likewise

/// What decides between mappings, in this order: small is good.
struct Worth {
    double excess = 1;  ///< load over bound, of the processor where that is largest; at least 1
    double value = 0;   ///< the objective
    double cost = 0;

    bool better_than(const Worth& other) const {
        if (excess < other.excess * kSmaller) return true;
        if (excess * kSmaller > other.excess) return false;
        if (value < other.value * kSmaller) return true;
        if (value * kSmaller > other.value) return false;
        return cost < other.cost * kSmaller;
    }
};

double largest_excess(const TaskGraph& graph, const LoadBounds& bounds,
                      const std::vector<ProcessorIndex>& processor_of) {
    std::vector<double> load(bounds.most.size(), 0);
    for (TaskIndex t = 0; t < graph.task_count(); ++t)
        load[static_cast<std::size_t>(processor_of[static_cast<std::size_t>(t)])] += bounds.size(graph, t);
    double excess = 1;
    for (std::size_t p = 0; p < load.size(); ++p)
        if (load[p] > 0) excess = std::max(excess, load[p] / bounds.most[p]);
    return excess;
}

using Mappings = std::vector<std::vector<ProcessorIndex>>;
using Find = std::function<Mappings()>;

/// The best of what all searches find, the first of equals; `is_first` is whether the first search found it.
std::vector<ProcessorIndex> best_of(const std::vector<Find>& searches, TaskRunner* runner,
                                    const std::function<Worth(const std::vector<ProcessorIndex>&)>& judge,
                                    bool& is_first) {
    std::vector<Mappings> found(searches.size());
    SerialRunner serial;
    (runner != nullptr ? *runner : serial).run(static_cast<int>(searches.size()), [&](int i) {
        found[static_cast<std::size_t>(i)] = searches[static_cast<std::size_t>(i)]();
    });
    std::vector<ProcessorIndex>* best = nullptr;
    Worth worth;
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (std::vector<ProcessorIndex>& each : found[i]) {
            const Worth mine = judge(each);
            if (best != nullptr && !mine.better_than(worth)) continue;
            best = &each;
            worth = mine;
            is_first = i == 0;
        }
    }
    ZBS_EXPECTS(best != nullptr);
    return std::move(*best);
}

Mappings kept(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds, Mappings mappings) {
    for (std::vector<ProcessorIndex>& each : mappings) keep_bounds(graph, tree, bounds, each);
    return mappings;
}

/// `mapper`'s mapping; none where it fails.
Mappings mapped_by(std::string_view mapper, const TaskGraph& graph, const ResourceGraph& resources,
                   const MapOptions& options) {
    Result<Mapping> mapping = find_mapper(mapper)->map(graph, resources, options);
    if (!mapping) return {};
    return {std::move(mapping->processor_of)};
}

}  // namespace

Result<Mapping> BestMapper::map(const TaskGraph& graph, const ResourceGraph& resources,
                                const MapOptions& options) const {
    if (auto ok = check_slots(graph.task_count(), resources.processor_count(), options); !ok) return ok.error();
    if (graph.task_count() == 0) return Mapping{};
    const WeighedTraffic weighed = weigh_traffic(graph, resources, options.weigh_messages);
    const ProcessorTree& tree = weighed.tree;
    const LoadBounds bounds = load_bounds(graph, tree, options);
    MapOptions by_compute = options;
    by_compute.max_tasks_per_processor = 0;
    const LoadBounds even = load_bounds(graph, tree, by_compute);
    const double tasks = graph.task_count();
    const double seconds_of_cost = 2 * weighed.seconds / (communication_steps(graph) * tasks);
    const auto judge = [&](const std::vector<ProcessorIndex>& processor_of) {
        Worth worth{.excess = largest_excess(graph, bounds, processor_of)};
        worth.cost = evaluate_on_tree(weighed.graph, tree, processor_of, bounds).cost;
        if (options.objective != Objective::kCost) {
            worth.value = make_objective(options.objective, graph, resources, processor_of)->value();
            return worth;
        }
        std::vector<double> load(even.most.size(), 0);
        for (TaskIndex t = 0; t < graph.task_count(); ++t)
            load[static_cast<std::size_t>(processor_of[static_cast<std::size_t>(t)])] += graph.compute(t);
        for (ProcessorIndex p = 0; p < tree.processor_count(); ++p) {
            const auto i = static_cast<std::size_t>(p);
            worth.value = std::max(worth.value, std::max(load[i], even.most[i]) / tree.speed(p));
        }
        worth.value += worth.cost * seconds_of_cost;
        return worth;
    };

    MapOptions plain = options;
    plain.level1 = "clusters";
    plain.level2 = "global";
    std::vector<Find> searches;
    const bool is_one_search =
        options.objective == Objective::kCost && !is_roomy(graph.task_count(), resources, options);
    searches.emplace_back([&]() -> Mappings {
        if (is_one_search) return {multilevel_on_tree(weighed.graph, tree, bounds, options)};
        return mapped_by("multilevel", graph, resources, plain);
    });
    searches.emplace_back([&] { return mapped_by("block", graph, resources, plain); });
    searches.emplace_back([&] {
        return kept(weighed.graph, tree, bounds, {metis_multisection(weighed.graph, tree, bounds, options.seed)});
    });
    // Where slots are many, HIER is one of the starts of `multilevel`.
    if (is_one_search && graph.task_count() <= kMostTasksOfHier && graph.edge_count() <= kMostEdgesOfHier)
        searches.emplace_back([&] { return mapped_by("hier", graph, resources, plain); });
    searches.emplace_back([&] { return kept(weighed.graph, tree, bounds, grid_tilings(weighed.graph, tree, bounds)); });
    if (is_one_search) {
        searches.emplace_back(
            [&] { return kept(weighed.graph, tree, bounds, {greedy_on_tree(weighed.graph, tree, bounds)}); });
        if (graph.task_count() <= kMostTasksOfGlobal)
            searches.emplace_back([&] { return mapped_by("global", graph, resources, plain); });
    }
    bool is_multilevel = true;
    std::vector<ProcessorIndex> best = best_of(searches, options.runner, judge, is_multilevel);
    if (is_multilevel || options.objective != Objective::kCost) return Mapping{std::move(best)};
    std::vector<ProcessorIndex> refined = multilevel_on_tree(weighed.graph, tree, bounds, options, &best);
    return Mapping{judge(refined).better_than(judge(best)) ? std::move(refined) : std::move(best)};
}

std::vector<ProcessorIndex> best_on_tree(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds,
                                         const MapOptions& options) {
    if (graph.task_count() == 0) return {};
    const auto judge = [&](const std::vector<ProcessorIndex>& processor_of) {
        Worth worth{.excess = largest_excess(graph, bounds, processor_of)};
        worth.cost = evaluate_on_tree(graph, tree, processor_of, bounds).cost;
        worth.value = options.objective == Objective::kCost
                          ? worth.cost
                          : make_objective(options.objective, graph, tree, processor_of)->value();
        return worth;
    };
    const std::vector<Find> searches = {
        [&]() -> Mappings {
            return {options.objective == Objective::kCost ? multilevel_on_tree(graph, tree, bounds, options)
                                                          : map_by_objective_on_tree(graph, tree, bounds, options)};
        },
        [&] { return kept(graph, tree, bounds, {block_on_tree(graph, tree, bounds)}); },
        [&] { return kept(graph, tree, bounds, {metis_multisection(graph, tree, bounds, options.seed)}); },
        [&] { return kept(graph, tree, bounds, {greedy_on_tree(graph, tree, bounds)}); },
        [&] { return kept(graph, tree, bounds, grid_tilings(graph, tree, bounds)); },
    };
    bool is_multilevel = true;
    // METIS, which is one of the starts for other objectives, is not for several threads at a time.
    TaskRunner* runner = options.objective == Objective::kCost ? options.runner : nullptr;
    std::vector<ProcessorIndex> best = best_of(searches, runner, judge, is_multilevel);
    if (is_multilevel || options.objective != Objective::kCost) return best;
    std::vector<ProcessorIndex> refined = multilevel_on_tree(graph, tree, bounds, options, &best);
    return judge(refined).better_than(judge(best)) ? refined : best;
}

}  // namespace zbs
