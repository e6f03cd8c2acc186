#include "algorithms/mapping/trees/tree_baselines.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "algorithms/base/rng.hpp"
#include "algorithms/mapping/load_repair.hpp"

namespace zbs {

std::vector<ProcessorIndex> block_on_tree(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds) {
    const auto tasks = static_cast<std::size_t>(graph.task_count());
    const auto processors = static_cast<std::size_t>(tree.processor_count());
    std::vector<ProcessorIndex> processor_of(tasks);
    if (tasks <= processors) {
        std::iota(processor_of.begin(), processor_of.end(), 0);
        return processor_of;
    }
    double size_left = 0, most_left = 0;
    for (TaskIndex t = 0; t < graph.task_count(); ++t) size_left += bounds.size(graph, t);
    for (const double most : bounds.most) most_left += most;
    std::size_t next = 0;
    for (std::size_t p = 0; p < processors; ++p) {
        // Shares of what is left: rounding of one block does not pile up in the last.
        const double share = most_left > 0 ? size_left * bounds.most[p] / most_left : 0;
        double filled = 0;
        while (next < tasks) {
            const double size = bounds.size(graph, static_cast<TaskIndex>(next));
            if (p + 1 < processors && filled > 0 && filled + size / 2 > share) break;
            filled += size;
            processor_of[next++] = static_cast<ProcessorIndex>(p);
        }
        size_left -= filled;
        most_left -= bounds.most[p];
    }
    return processor_of;
}

std::vector<ProcessorIndex> round_robin_on_tree(const TaskGraph& graph, const ProcessorTree& tree) {
    const std::span<const ProcessorTree::Group> groups = tree.groups();
    const std::span<const ProcessorTree::Group> top = groups.subspan(static_cast<std::size_t>(groups[0].first_child),
                                                                     static_cast<std::size_t>(groups[0].child_count));
    // One round of deals; it repeats when every processor has a task.
    std::vector<ProcessorIndex> round;
    for (ProcessorIndex turn = 0; round.size() < static_cast<std::size_t>(tree.processor_count()); ++turn) {
        for (const ProcessorTree::Group& group : top) {
            if (turn < group.processor_count) round.push_back(group.first_processor + turn);
        }
    }
    std::vector<ProcessorIndex> processor_of(static_cast<std::size_t>(graph.task_count()));
    for (std::size_t t = 0; t < processor_of.size(); ++t) processor_of[t] = round[t % round.size()];
    return processor_of;
}

std::vector<ProcessorIndex> random_on_tree(const TaskGraph& graph, const ProcessorTree& tree, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<ProcessorIndex> round(static_cast<std::size_t>(tree.processor_count()));
    std::iota(round.begin(), round.end(), 0);
    rng.shuffle(round);
    std::vector<TaskIndex> tasks(static_cast<std::size_t>(graph.task_count()));
    std::iota(tasks.begin(), tasks.end(), 0);
    rng.shuffle(tasks);
    std::vector<ProcessorIndex> processor_of(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i)
        processor_of[static_cast<std::size_t>(tasks[i])] = round[i % round.size()];
    return processor_of;
}

namespace {

/// Tasks by their traffic, most first.
std::vector<TaskIndex> by_traffic(const TaskGraph& graph) {
    const auto tasks = static_cast<std::size_t>(graph.task_count());
    std::vector<double> traffic(tasks, 0);
    for (const TaskEdge& edge : graph.edges()) {
        traffic[static_cast<std::size_t>(edge.u)] += edge.bytes;
        traffic[static_cast<std::size_t>(edge.v)] += edge.bytes;
    }
    std::vector<TaskIndex> seeds(tasks);
    std::iota(seeds.begin(), seeds.end(), 0);
    std::stable_sort(seeds.begin(), seeds.end(), [&](TaskIndex a, TaskIndex b) {
        return traffic[static_cast<std::size_t>(a)] > traffic[static_cast<std::size_t>(b)];
    });
    return seeds;
}

/// The cheapest processor with room for `size` near one of the heaviest partners, which are sorted for it; -1: none.
/// `partners`: minus the bytes, and the processor.
ProcessorIndex find_nearest(RoomIndex& room, const ProcessorTree& tree,
                            std::vector<std::pair<double, ProcessorIndex>>& partners, double size) {
    ProcessorIndex best = -1;
    const std::size_t heaviest = std::min<std::size_t>(partners.size(), 4);
    std::partial_sort(partners.begin(), partners.begin() + static_cast<std::ptrdiff_t>(heaviest), partners.end());
    double least = 0;
    for (std::size_t i = 0; i < heaviest; ++i) {
        const ProcessorIndex p = room.nearest(partners[i].second, size);
        if (p < 0 || p == best) continue;
        double cost = 0;
        for (const auto& [minus_bytes, q] : partners) cost -= minus_bytes * tree.distance(p, q);
        if (best >= 0 && cost >= least) continue;
        best = p;
        least = cost;
    }
    return best;
}

}  // namespace

std::vector<ProcessorIndex> greedy_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                                           const LoadBounds& bounds) {
    constexpr ProcessorIndex kUnplaced = -1;
    const auto tasks = static_cast<std::size_t>(graph.task_count());
    std::vector<ProcessorIndex> processor_of(tasks, kUnplaced);
    std::vector<double> pull(tasks, 0);  // bytes with placed tasks
    RoomIndex room(tree, bounds);

    struct Waiting {
        double pull;
        TaskIndex task;
        bool operator<(const Waiting& other) const {
            return pull != other.pull ? pull < other.pull : task > other.task;
        }
    };
    std::priority_queue<Waiting> waiting;  // with outdated entries, whose pull is too small
    std::vector<std::pair<double, ProcessorIndex>> partners;

    const auto place = [&](TaskIndex task) {
        const double size = bounds.size(graph, task);
        partners.clear();
        for (const TaskGraph::Neighbour& n : graph.neighbours(task)) {
            const ProcessorIndex p = processor_of[static_cast<std::size_t>(n.task)];
            if (p != kUnplaced) partners.emplace_back(-n.bytes, p);
        }
        ProcessorIndex best = partners.empty() ? room.nearest(0, size) : find_nearest(room, tree, partners, size);
        if (best < 0) best = room.emptiest();  // fits nowhere: as little too much as possible
        processor_of[static_cast<std::size_t>(task)] = best;
        room.take(best, size);
        for (const TaskGraph::Neighbour& n : graph.neighbours(task)) {
            const auto other = static_cast<std::size_t>(n.task);
            if (processor_of[other] != kUnplaced) continue;
            pull[other] += n.bytes;
            waiting.push({pull[other], n.task});
        }
    };
    for (const TaskIndex seed : by_traffic(graph)) {
        if (processor_of[static_cast<std::size_t>(seed)] != kUnplaced) continue;
        place(seed);
        while (!waiting.empty()) {
            const Waiting next = waiting.top();
            waiting.pop();
            if (processor_of[static_cast<std::size_t>(next.task)] == kUnplaced) place(next.task);
        }
    }
    return processor_of;
}

}  // namespace zbs
