#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

#include "algorithms/formats/metis_graph.hpp"

namespace zbs::formats {

/// The graph as a file for METIS, with a three-digit `fmt` unless all weights are 1. Messages do not fit into the
/// format and are left out. Reading the result gives the same compute, edges and bytes if no weight is above
/// kMaxGraphWeight.
inline std::string write_metis_graph(const TaskGraph& graph) {
    const bool task_weights = !std::ranges::all_of(graph.compute(), [](double w) { return w == 1; });
    const bool edge_weights = !std::ranges::all_of(graph.edges(), [](const TaskEdge& e) { return e.bytes == 1; });
    std::string out = std::to_string(graph.task_count()) + ' ' + std::to_string(graph.edge_count());
    if (task_weights || edge_weights)
        out += std::string(" 0") + (task_weights ? '1' : '0') + (edge_weights ? '1' : '0');
    out += '\n';
    out.reserve(out.size() + graph.edge_count() * 16 + static_cast<std::size_t>(graph.task_count()) * 4);
    char text[32];
    const auto add = [&](double value) {
        if (out.back() != '\n') out += ' ';
        // As a whole number where it is one: other readers know no exponent.
        const bool whole = value <= kMaxGraphWeight && value == static_cast<double>(static_cast<std::uint64_t>(value));
        const auto end = whole ? std::to_chars(text, text + sizeof text, static_cast<std::uint64_t>(value))
                               : std::to_chars(text, text + sizeof text, value);
        out.append(text, end.ptr);
    };
    for (TaskIndex task = 0; task < graph.task_count(); ++task) {
        if (task_weights) add(graph.compute(task));
        for (const TaskGraph::Neighbour& n : graph.neighbours(task)) {
            add(n.task + 1);
            if (edge_weights) add(n.bytes);
        }
        out += '\n';
    }
    return out;
}

}  // namespace zbs::formats
