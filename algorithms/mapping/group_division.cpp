#include "algorithms/mapping/group_division.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/multilevel_mapper.hpp"

namespace zbs {
namespace {

constexpr double kRoomy = 4.0 / 3;  // from there on children are filled one by one

double sum_of(const std::vector<double>& most, const ProcessorTree::Group& group) {
    const auto first = most.begin() + group.first_processor;
    return std::accumulate(first, first + group.processor_count, 0.0);
}

}  // namespace

std::vector<std::int32_t> divide_among_groups(const TaskGraph& graph, const ProcessorTree& tree,
                                              const LoadBounds& bounds, const MapOptions& options) {
    const ProcessorTree outline = tree.outline(0);
    const ProcessorTree::Group& root = tree.groups()[0];
    double load = 0;
    bool whole = true;
    for (TaskIndex t = 0; t < graph.task_count(); ++t) {
        const double size = bounds.size(graph, t);
        load += size;
        whole = whole && size == std::floor(size);
    }
    const double all = sum_of(bounds.most, root);
    const double slack = load > 0 ? std::max(1.0, all / load) : 1;
    const double share = std::pow(slack, 1.0 / tree.levels());
    LoadBounds of_children{.most = {}, .counts_tasks = bounds.counts_tasks};
    for (std::int32_t child = 0; child < root.child_count; ++child) {
        const double room = sum_of(bounds.most, tree.groups()[static_cast<std::size_t>(root.first_child + child)]);
        const double wanted = load * room / all * share;
        const bool roomy = slack > kRoomy || load <= 0;
        of_children.most.push_back(roomy ? room : std::min(room, whole ? std::ceil(wanted * (1 - 1e-12)) : wanted));
    }
    return multilevel_on_tree(graph, outline, of_children, options);
}

std::vector<ProcessorIndex> hier_on_tree(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds,
                                         const MapOptions& options) {
    if (graph.task_count() == 0) return {};
    if (tree.levels() == 1) return multilevel_on_tree(graph, tree, bounds, options);
    const std::vector<std::int32_t> child_of = divide_among_groups(graph, tree, bounds, options);
    const ProcessorTree::Group& root = tree.groups()[0];
    std::vector<std::vector<TaskIndex>> tasks_of(static_cast<std::size_t>(root.child_count));
    for (TaskIndex t = 0; t < graph.task_count(); ++t)
        tasks_of[static_cast<std::size_t>(child_of[static_cast<std::size_t>(t)])].push_back(t);
    std::vector<ProcessorIndex> processor_of(static_cast<std::size_t>(graph.task_count()));
    SerialRunner serial;
    TaskRunner& runner = options.runner != nullptr ? *options.runner : serial;
    runner.run(root.child_count, [&](int i) {
        const std::vector<TaskIndex>& tasks = tasks_of[static_cast<std::size_t>(i)];
        if (tasks.empty()) return;
        const std::int32_t child = root.first_child + i;
        const ProcessorTree::Group& group = tree.groups()[static_cast<std::size_t>(child)];
        const ProcessorTree part = tree.subtree(child);
        const auto first = bounds.most.begin() + group.first_processor;
        const LoadBounds part_bounds{.most = {first, first + group.processor_count},
                                     .counts_tasks = bounds.counts_tasks};
        const TaskGraph part_graph = subgraph(graph, tasks);
        MapOptions part_options = options;
        part_options.seed = options.seed + 7919 * static_cast<std::uint64_t>(i + 1);
        const std::vector<ProcessorIndex> found = options.level2 == "hier"
                                                      ? hier_on_tree(part_graph, part, part_bounds, part_options)
                                                      : multilevel_on_tree(part_graph, part, part_bounds, part_options);
        for (std::size_t t = 0; t < tasks.size(); ++t)
            processor_of[static_cast<std::size_t>(tasks[t])] = group.first_processor + found[t];
    });
    keep_bounds(graph, tree, bounds, processor_of);
    return processor_of;
}

}  // namespace zbs
