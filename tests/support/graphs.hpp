#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::test {

/// Task t belongs to cluster t % clusters. Inside a cluster a pair is tied with probability `tied_inside`, between
/// clusters with `tied_outside`; an inner tie carries `contrast` times the bytes of an outer one, all times a random
/// factor in [1, 2), so weights are distinct; it has 10 messages, an outer one 1. Compute is 1 ms times a random factor
/// in [1, 2).
struct PlantedOptions {
    int tasks = 16;
    int clusters = 4;
    double tied_inside = 0.9;
    double tied_outside = 0.1;
    double contrast = 100;
};
TaskGraph planted_clusters(const PlantedOptions& options, std::uint64_t seed);

/// Like planted_clusters, in O(edges): each task draws `inside` partners in its cluster and `outside` partners
/// anywhere.
TaskGraph large_clusters(int tasks, int clusters, int inside, int outside, std::uint64_t seed);

TaskGraph star(int leaves);             ///< task 0 tied to each leaf, equal weights
TaskGraph clique(int tasks);            ///< equal weights
TaskGraph grid(int rows, int columns);  ///< 4-neighbour grid, equal weights
TaskGraph isolated(int tasks);          ///< compute 1 s each, no traffic
/// Random graph that may fall apart, with some weights 0; distinct weights otherwise.
TaskGraph random_graph(int tasks, double tied, std::uint64_t seed);

/// Task t of `graph` becomes task `new_label[t]`.
TaskGraph relabel(const TaskGraph& graph, std::span<const TaskIndex> new_label);
std::vector<TaskIndex> random_permutation(int count, std::uint64_t seed);

/// `zones[z]` machines of one processor each in zone z; every pair of zones joined by `between`.
ResourceGraph flat_zones(const std::vector<int>& zones, const Link& between, const Link& within = {5e-5, 1e9});
/// Zones of random machines, speeds and links.
ResourceGraph random_resources(int zones, std::uint64_t seed);

/// Rows of numbers of a golden file: lines that start with '#' and the first other line (column names) are skipped.
std::vector<std::vector<double>> read_table(const std::string& path);

}  // namespace zbs::test
