#include <functional>

#include "tests/benchmark/zbs_bench/mapping/mapping_bench.hpp"
#include "tests/support/generated_graphs.hpp"

namespace zbs::bench {
namespace {

struct Family {
    std::string name;
    std::function<TaskGraph(std::uint64_t)> make;
    bool one_instance = false;  ///< nothing is drawn
};

/// Compute 1: a bound of 1.03 x 1.5 tasks would hold one, and nothing would be balanced.
TaskGraph whole(const TaskGraph& graph) {
    return TaskGraph::make(std::vector<double>(static_cast<std::size_t>(graph.task_count()), 1),
                           {graph.edges().begin(), graph.edges().end()})
        .value();
}

}  // namespace

void bench_generated(const Setup& setup) {
    const std::vector<Family> families = {
        {"mesh 5k", [](std::uint64_t seed) { return test::mesh_with_holes(5'000, seed); }},
        {"mesh 30k", [](std::uint64_t seed) { return test::mesh_with_holes(30'000, seed); }},
        {"geometric 4k", [](std::uint64_t seed) { return test::random_geometric(4'000, 10, seed); }},
        {"geometric 20k", [](std::uint64_t seed) { return test::random_geometric(20'000, 14, seed); }},
        {"rmat 2^10", [](std::uint64_t seed) { return test::rmat(10, 8'000, seed); }},
        {"rmat 2^13", [](std::uint64_t seed) { return test::rmat(13, 60'000, seed); }},
        {"transport 24x12", [](std::uint64_t seed) { return whole(test::transport(24, 12, 10, seed)); }},
        {"transport 50x40", [](std::uint64_t seed) { return whole(test::transport(50, 40, 10, seed)); }},
        {"stencil7 20x18x16", [](std::uint64_t) { return test::stencil(20, 18, 16, false); }, true},
        {"stencil27 15x14x13", [](std::uint64_t) { return test::stencil(15, 14, 13, true); }, true},
    };
    const std::vector<Contender> all = contenders(setup, {"metis", "greedy", "round-robin"});
    Table detail{"generated graphs, imbalance 0.03, distances 1:10:100: J over that of metis, geometric mean of seeds",
                 {"family", "hierarchy", "mapper", "J / metis", "mean J", "mean seconds", "unbalanced"},
                 {}};
    std::map<std::string, std::vector<double>> ratios, seconds;
    std::map<std::string, int> unbalanced;
    for (const Family& family : families) {
        if (!setup.wants(family.name)) continue;
        for (const std::string hierarchy : {"4:8:2", "4:8:6"}) {
            const ProcessorTree tree = tree_of(hierarchy, "1:10:100");
            std::map<std::string, std::vector<double>> cost, time, over;
            std::map<std::string, int> off;
            for (int i = 0; i < (family.one_instance ? 1 : setup.seeds); ++i) {
                const TaskGraph graph = family.make(static_cast<std::uint64_t>(100 + i));
                const double metis = measure(setup, {"metis", "metis"}, graph, tree, 0.03).cost;
                for (const Contender& contender : all) {
                    const Outcome outcome = measure(setup, contender, graph, tree, 0.03);
                    cost[contender.name].push_back(outcome.cost);
                    time[contender.name].push_back(outcome.seconds);
                    over[contender.name].push_back(outcome.cost / metis);
                    off[contender.name] += outcome.balanced ? 0 : 1;
                }
            }
            for (const Contender& contender : all) {
                const std::string& name = contender.name;
                detail.rows.push_back({family.name, hierarchy, name, geometric_mean(over[name]), mean(cost[name]),
                                       mean(time[name]), off[name]});
                ratios[name].insert(ratios[name].end(), over[name].begin(), over[name].end());
                seconds[name].insert(seconds[name].end(), time[name].begin(), time[name].end());
                unbalanced[name] += off[name];
            }
        }
    }
    setup.report->add(detail);
    Table table{"generated graphs, all", {"mapper", "J / metis", "mean seconds", "unbalanced", "instances"}, {}};
    for (const Contender& contender : all) {
        const std::string& name = contender.name;
        table.rows.push_back(
            {name, geometric_mean(ratios[name]), mean(seconds[name]), unbalanced[name], ratios[name].size()});
    }
    setup.report->add(table);
}

}  // namespace zbs::bench
