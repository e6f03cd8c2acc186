#include "algorithms/model/task_graph.hpp"

#include <algorithm>
#include <cmath>

namespace zbs {

std::ostream& operator<<(std::ostream& out, const TaskEdge& edge) {
    return out << '[' << edge.u << ',' << edge.v << ',' << edge.bytes << ',' << edge.messages << ']';
}

Result<TaskGraph> TaskGraph::make(std::vector<double> compute, std::vector<TaskEdge> edges) {
    if (compute.empty()) return invalid("a model needs at least one rank", "/compute");
    if (compute.size() > static_cast<std::size_t>(kMaxTasks)) {
        return invalid("a model holds at most " + std::to_string(kMaxTasks) + " ranks", "/compute");
    }
    for (std::size_t i = 0; i < compute.size(); ++i) {
        if (!std::isfinite(compute[i]) || compute[i] < 0) {
            return invalid("compute seconds must be a number >= 0", "/compute/" + std::to_string(i));
        }
    }
    const auto count = static_cast<TaskIndex>(compute.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const TaskEdge& edge = edges[i];
        const auto at = [i](const char* field = "") { return "/edges/" + std::to_string(i) + field; };
        if (edge.u < 0 || edge.v < 0 || edge.u >= count || edge.v >= count) {
            return invalid("edge names a rank outside 0.." + std::to_string(count - 1), at());
        }
        if (edge.u >= edge.v) return invalid("edge must name two ranks u < v", at());
        if (!std::isfinite(edge.bytes) || edge.bytes < 0) return invalid("bytes must be a number >= 0", at("/2"));
        if (!std::isfinite(edge.messages) || edge.messages < 0)
            return invalid("messages must be a number >= 0", at("/3"));
    }

    TaskGraph graph;
    graph.compute_ = std::move(compute);
    const auto before = [](const TaskEdge& a, const TaskEdge& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; };
    if (!std::is_sorted(edges.begin(), edges.end(), before)) std::sort(edges.begin(), edges.end(), before);
    const auto twin = std::adjacent_find(edges.begin(), edges.end(),
                                         [](const TaskEdge& a, const TaskEdge& b) { return a.u == b.u && a.v == b.v; });
    if (twin != edges.end()) {
        return invalid("ranks " + std::to_string(twin->u) + " and " + std::to_string(twin->v) +
                           " have two edges; sum them into one",
                       "/edges");
    }
    graph.edges_ = std::move(edges);

    graph.offsets_.assign(graph.compute_.size() + 1, 0);
    for (const TaskEdge& edge : graph.edges_) {
        ++graph.offsets_[static_cast<std::size_t>(edge.u) + 1];
        ++graph.offsets_[static_cast<std::size_t>(edge.v) + 1];
    }
    for (std::size_t i = 1; i < graph.offsets_.size(); ++i) graph.offsets_[i] += graph.offsets_[i - 1];
    graph.adjacency_.resize(graph.edges_.size() * 2);
    std::vector<std::size_t> next(graph.offsets_.begin(), graph.offsets_.end() - 1);
    // Edges are sorted by (u, v): all smaller neighbours of a task are written before its larger ones, each in order.
    for (const TaskEdge& edge : graph.edges_) {
        graph.adjacency_[next[static_cast<std::size_t>(edge.v)]++] = {edge.u, edge.bytes, edge.messages};
    }
    for (const TaskEdge& edge : graph.edges_) {
        graph.adjacency_[next[static_cast<std::size_t>(edge.u)]++] = {edge.v, edge.bytes, edge.messages};
    }
    return graph;
}

bool add_unseen(UnseenCalls& unseen, std::string_view function, std::uint64_t calls) {
    const bool is_name = !function.empty() && function.size() <= kMaxFunctionBytes && function.front() != ' ' &&
                         function.back() != ' ' &&
                         std::ranges::all_of(function, [](char c) { return c >= 0x20 && c < 0x7f; });
    if (!is_name || calls < 1 || calls > kMaxUnseenCalls) return false;
    const auto at = unseen.find(std::string(function));
    if (at == unseen.end() && unseen.size() == kMaxUnseenFunctions) return false;
    if (at != unseen.end() && at->second > kMaxUnseenCalls - calls) return false;
    unseen[std::string(function)] += calls;
    return true;
}

std::string unseen_text(const UnseenCalls& unseen) {
    std::string text;
    for (const auto& [function, calls] : unseen)
        text +=
            (text.empty() ? "" : ", ") + function + " (" + std::to_string(calls) + (calls == 1 ? " call)" : " calls)");
    return text;
}

TaskGraph subgraph(const TaskGraph& graph, std::span<const TaskIndex> tasks) {
    std::vector<TaskIndex> number(static_cast<std::size_t>(graph.task_count()), -1);
    std::vector<double> compute;
    compute.reserve(tasks.size());
    for (const TaskIndex task : tasks) {
        ZBS_EXPECTS(task >= 0 && task < graph.task_count() && number[static_cast<std::size_t>(task)] < 0);
        number[static_cast<std::size_t>(task)] = static_cast<TaskIndex>(compute.size());
        compute.push_back(graph.compute(task));
    }
    std::vector<TaskEdge> edges;
    for (const TaskIndex task : tasks) {
        const TaskIndex u = number[static_cast<std::size_t>(task)];
        for (const TaskGraph::Neighbour& n : graph.neighbours(task)) {
            const TaskIndex v = number[static_cast<std::size_t>(n.task)];
            if (u < v) edges.push_back({u, v, n.bytes, n.messages});
        }
    }
    Result<TaskGraph> made = TaskGraph::make(std::move(compute), std::move(edges));
    ZBS_EXPECTS(made.has_value());
    return *std::move(made);
}

}  // namespace zbs
