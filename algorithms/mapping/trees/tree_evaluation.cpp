#include "algorithms/mapping/trees/tree_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

double speed_sum(const ProcessorTree& tree) {
    double sum = 0;
    for (ProcessorIndex p = 0; p < tree.processor_count(); ++p) sum += tree.speed(p);
    return sum;
}

double compute_sum(const TaskGraph& graph) {
    return std::accumulate(graph.compute().begin(), graph.compute().end(), 0.0);
}

}  // namespace

LoadBounds load_bounds(const TaskGraph& graph, const ProcessorTree& tree, const MapOptions& options) {
    LoadBounds bounds;
    const auto processors = static_cast<std::size_t>(tree.processor_count());
    if (options.max_tasks_per_processor > 0) {
        bounds.counts_tasks = true;
        bounds.most.assign(processors, options.max_tasks_per_processor);
        return bounds;
    }
    const bool whole = std::ranges::all_of(graph.compute(), [](double c) { return c == std::floor(c); });
    const double compute = compute_sum(graph);
    const double speeds = speed_sum(tree);
    bounds.most.reserve(processors);
    for (ProcessorIndex p = 0; p < tree.processor_count(); ++p) {
        const double share = compute * tree.speed(p) / speeds;
        // Neither may a share of 100 become 101 by a rounding error, nor 1.03 x 100 become 102.
        bounds.most.push_back(whole ? std::floor((1 + options.imbalance) * std::ceil(share * (1 - 1e-12)) * (1 + 1e-12))
                                    : (1 + options.imbalance) * share);
    }
    return bounds;
}

TreeReport evaluate_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                            std::span<const ProcessorIndex> processor_of, const LoadBounds& bounds) {
    ZBS_EXPECTS(processor_of.size() == static_cast<std::size_t>(graph.task_count()));
    const auto processors = static_cast<std::size_t>(tree.processor_count());
    ZBS_EXPECTS(bounds.most.size() == processors);
    TreeReport report;

    std::vector<double> compute(processors, 0), size(processors, 0);
    for (TaskIndex t = 0; t < graph.task_count(); ++t) {
        const ProcessorIndex p = processor_of[static_cast<std::size_t>(t)];
        ZBS_EXPECTS(p >= 0 && p < tree.processor_count());
        compute[static_cast<std::size_t>(p)] += graph.compute(t);
        size[static_cast<std::size_t>(p)] += bounds.size(graph, t);
    }
    const double average = compute_sum(graph) / speed_sum(tree);
    for (std::size_t p = 0; p < processors; ++p) {
        const double seconds = compute[p] / tree.speed(static_cast<ProcessorIndex>(p));
        report.occupancy = std::max(report.occupancy, seconds);
        if (average > 0) report.imbalance = std::max(report.imbalance, seconds / average - 1);
        // Sums of fractions may be off in the last place.
        if (size[p] > bounds.most[p] * (1 + 1e-9)) report.feasible = false;
    }

    std::vector<double> crossing(tree.groups().size(), 0);  // by group: bytes over its border x distance in its parent
    for (const TaskEdge& edge : graph.edges()) {
        const ProcessorIndex p = processor_of[static_cast<std::size_t>(edge.u)];
        const ProcessorIndex q = processor_of[static_cast<std::size_t>(edge.v)];
        if (p == q) continue;
        report.cost += edge.bytes * tree.distance(p, q);
        for (int depth = tree.levels(); depth > 0; --depth) {
            const std::int32_t a = tree.group_of(p, depth), b = tree.group_of(q, depth);
            if (a == b) break;
            if (depth == 1) {
                const double seconds = edge.bytes * tree.top_distance(a - 1, b - 1);
                crossing[static_cast<std::size_t>(a)] += seconds;
                crossing[static_cast<std::size_t>(b)] += seconds;
                break;
            }
            for (const std::int32_t group : {a, b}) {
                const auto parent = static_cast<std::size_t>(tree.groups()[static_cast<std::size_t>(group)].parent);
                crossing[static_cast<std::size_t>(group)] += edge.bytes * tree.groups()[parent].distance;
            }
        }
    }
    for (const double seconds : crossing) report.occupancy = std::max(report.occupancy, seconds);
    return report;
}

}  // namespace zbs
