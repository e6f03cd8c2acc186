#include <benchmark/benchmark.h>

#include "algorithms/graph/shortest_path_clustering.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/occupancy.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

/// About 10 edges a task, 8 of 10 inside one of `zones` planted clusters; 5 % more processors than tasks.
struct Case {
    TaskGraph graph;
    ResourceGraph resources;
};
Case make_case(const benchmark::State& state) {
    const auto tasks = static_cast<int>(state.range(0));
    const auto zones = static_cast<int>(state.range(1));
    return {test::large_clusters(tasks, zones, 8, 2, 1),
            test::flat_zones(std::vector<int>(static_cast<std::size_t>(zones), tasks / zones + tasks / zones / 20 + 1),
                             {5e-3, 1e8})};
}

void cluster(benchmark::State& state) {
    const Case in = make_case(state);
    for (auto _ : state) benchmark::DoNotOptimize(make_cluster_tree(in.graph));
    state.counters["edges"] = static_cast<double>(in.graph.edge_count());
}

void map_with(benchmark::State& state, const char* name) {
    const Case in = make_case(state);
    Mapping mapping;
    for (auto _ : state) mapping = find_mapper(name)->map(in.graph, in.resources, {}).value();
    const MappingReport report = evaluate(in.graph, in.resources, mapping);
    state.counters["edges"] = static_cast<double>(in.graph.edge_count());
    state.counters["inter_zone_bytes"] = report.inter_zone_bytes;
    state.counters["occupancy_ms"] = report.occupancy * 1e3;
}

void sizes(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"ranks", "zones"})
        ->Args({100, 4})
        ->Args({1'000, 10})
        ->Args({10'000, 60})
        ->Unit(benchmark::kMillisecond);
}
BENCHMARK(cluster)->Apply(sizes);
BENCHMARK_CAPTURE(map_with, hier, "hier")->Apply(sizes);
BENCHMARK_CAPTURE(map_with, global, "global")->Apply(sizes);
BENCHMARK_CAPTURE(map_with, block, "block")->Apply(sizes);
BENCHMARK_CAPTURE(map_with, random, "random")->Apply(sizes);

}  // namespace
}  // namespace zbs
