#include "tests/support/graphs.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

#include "algorithms/base/rng.hpp"
#include "algorithms/sim/generators.hpp"
#include "tests/support/made_graph.hpp"

namespace zbs::test {
namespace {

std::vector<double> random_compute(int tasks, Rng& rng) {
    std::vector<double> compute(static_cast<std::size_t>(tasks));
    for (double& c : compute) c = 1e-3 * (1 + rng.uniform());
    return compute;
}

}  // namespace

TaskGraph planted_clusters(const PlantedOptions& options, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> compute = random_compute(options.tasks, rng);
    std::vector<TaskEdge> edges;
    for (TaskIndex u = 0; u < options.tasks; ++u) {
        for (TaskIndex v = u + 1; v < options.tasks; ++v) {
            const bool inside = u % options.clusters == v % options.clusters;
            if (rng.uniform() >= (inside ? options.tied_inside : options.tied_outside)) continue;
            edges.push_back({u, v, (inside ? options.contrast : 1) * 1000 * (1 + rng.uniform()), inside ? 10.0 : 1.0});
        }
    }
    return made(std::move(compute), std::move(edges));
}

TaskGraph large_clusters(int tasks, int clusters, int inside, int outside, std::uint64_t seed) {
    return clustered_graph({.tasks = tasks, .clusters = clusters, .inside = inside, .outside = outside, .seed = seed});
}

TaskGraph star(int leaves) {
    std::vector<TaskEdge> edges;
    for (TaskIndex leaf = 1; leaf <= leaves; ++leaf) edges.push_back({0, leaf, 1000, 1});
    return made(std::vector<double>(static_cast<std::size_t>(leaves) + 1, 1), std::move(edges));
}

TaskGraph clique(int tasks) {
    std::vector<TaskEdge> edges;
    for (TaskIndex u = 0; u < tasks; ++u) {
        for (TaskIndex v = u + 1; v < tasks; ++v) edges.push_back({u, v, 1000, 1});
    }
    return made(std::vector<double>(static_cast<std::size_t>(tasks), 1), std::move(edges));
}

TaskGraph grid(int rows, int columns) {
    std::vector<TaskEdge> edges;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            const TaskIndex here = row * columns + column;
            if (column + 1 < columns) edges.push_back({here, here + 1, 1000, 1});
            if (row + 1 < rows) edges.push_back({here, here + columns, 1000, 1});
        }
    }
    return made(std::vector<double>(static_cast<std::size_t>(rows * columns), 1), std::move(edges));
}

TaskGraph isolated(int tasks) { return made(std::vector<double>(static_cast<std::size_t>(tasks), 1), {}); }

TaskGraph random_graph(int tasks, double tied, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> compute = random_compute(tasks, rng);
    std::vector<TaskEdge> edges;
    for (TaskIndex u = 0; u < tasks; ++u) {
        for (TaskIndex v = u + 1; v < tasks; ++v) {
            if (rng.uniform() >= tied) continue;
            if (rng.below(8) == 0) {
                edges.push_back({u, v, 0, 0});
            } else {
                edges.push_back({u, v, 1e6 * rng.uniform(), static_cast<double>(1 + rng.below(100))});
            }
        }
    }
    return made(std::move(compute), std::move(edges));
}

TaskGraph relabel(const TaskGraph& graph, std::span<const TaskIndex> new_label) {
    std::vector<double> compute(new_label.size());
    for (std::size_t t = 0; t < compute.size(); ++t)
        compute[static_cast<std::size_t>(new_label[t])] = graph.compute()[t];
    std::vector<TaskEdge> edges;
    for (const TaskEdge& edge : graph.edges()) {
        const auto [u, v] =
            std::minmax(new_label[static_cast<std::size_t>(edge.u)], new_label[static_cast<std::size_t>(edge.v)]);
        edges.push_back({u, v, edge.bytes, edge.messages});
    }
    return made(std::move(compute), std::move(edges));
}

std::vector<TaskIndex> random_permutation(int count, std::uint64_t seed) {
    std::vector<TaskIndex> permutation(static_cast<std::size_t>(count));
    std::iota(permutation.begin(), permutation.end(), 0);
    Rng rng(seed);
    rng.shuffle(permutation);
    return permutation;
}

ResourceGraph flat_zones(const std::vector<int>& zones, const Link& between, const Link& within) {
    return zbs::flat_zones(zones, between, within);
}

ResourceGraph random_resources(int zones, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<Zone> made_zones;
    std::vector<ResourceGraph::ZoneLink> links;
    for (int z = 0; z < zones; ++z) {
        Zone zone{.name = "z" + std::to_string(z), .machines = {}};
        const auto machines = static_cast<int>(1 + rng.below(4));
        for (int m = 0; m < machines; ++m) {
            zone.machines.push_back({"m" + std::to_string(m), static_cast<int>(1 + rng.below(4)), 0.5 + rng.uniform()});
        }
        made_zones.push_back(std::move(zone));
        for (int other = 0; other < z; ++other)
            links.push_back({other, z, {1e-3 * (1 + rng.uniform()), 1e7 * (1 + rng.uniform())}});
    }
    auto graph = ResourceGraph::make(std::move(made_zones), std::move(links));
    ZBS_EXPECTS(graph.has_value());
    return *std::move(graph);
}

std::vector<std::vector<double>> read_table(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::vector<double>> rows;
    std::string line;
    bool names_seen = false;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') continue;
        if (!std::exchange(names_seen, true)) continue;
        std::vector<double> row;
        std::stringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace zbs::test
