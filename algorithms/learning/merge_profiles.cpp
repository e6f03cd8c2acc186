#include "algorithms/learning/merge_profiles.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "algorithms/base/expects.hpp"

namespace zbs::learning {
namespace {

using Values = std::array<double, kMergedRuns>;

double median_of(Values values, std::size_t count) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
    std::partial_sort(values.begin(), end, end);                 // GCC 12 warns of the 16 that std::sort compares with
    return values[(count - 1) / 2] / 2 + values[count / 2] / 2;  // a sum might not be finite
}

double greatest_of(Values values, std::size_t count) {
    return *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

std::optional<MergedProfile> merge_profiles(std::span<const MergeInput> runs) {
    if (runs.empty()) return {};
    const bool complete = std::any_of(runs.begin(), runs.end(), [](const MergeInput& run) { return run.complete; });
    std::vector<const TaskGraph*> graphs;
    for (std::size_t i = runs.size(); i-- > 0 && graphs.size() < kMergedRuns;) {
        ZBS_EXPECTS(runs[i].graph != nullptr && runs[i].graph->task_count() == runs[0].graph->task_count());
        if (runs[i].complete == complete) graphs.push_back(runs[i].graph);
    }
    const std::size_t count = graphs.size();
    const auto middle = complete ? median_of : greatest_of;

    std::vector<double> compute(static_cast<std::size_t>(graphs[0]->task_count()));
    Values first{}, second{};
    for (std::size_t task = 0; task < compute.size(); ++task) {
        for (std::size_t run = 0; run < count; ++run) first[run] = graphs[run]->compute()[task];
        compute[task] = middle(first, count);
    }

    std::vector<TaskEdge> edges;
    std::array<std::size_t, kMergedRuns> at{};
    constexpr std::pair<TaskIndex, TaskIndex> kEnd{TaskGraph::kMaxTasks, TaskGraph::kMaxTasks};
    for (;;) {
        std::pair<TaskIndex, TaskIndex> next = kEnd;
        for (std::size_t run = 0; run < count; ++run) {
            const auto all = graphs[run]->edges();
            if (at[run] < all.size()) next = std::min(next, {all[at[run]].u, all[at[run]].v});
        }
        if (next == kEnd) break;
        first = second = {};
        for (std::size_t run = 0; run < count; ++run) {
            const auto all = graphs[run]->edges();
            if (at[run] == all.size() || std::pair(all[at[run]].u, all[at[run]].v) != next) continue;
            first[run] = all[at[run]].bytes;
            second[run] = all[at[run]].messages;
            ++at[run];
        }
        const TaskEdge edge{next.first, next.second, middle(first, count), middle(second, count)};
        if (edge.bytes > 0 || edge.messages > 0) edges.push_back(edge);
    }
    Result<TaskGraph> graph = TaskGraph::make(std::move(compute), std::move(edges));
    ZBS_EXPECTS(graph.has_value());  // medians of good values are good
    return MergedProfile{*std::move(graph), complete, count};
}

}  // namespace zbs::learning
