#include <malloc.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/benchmark/zbs_bench/mapping/mapping_bench.hpp"
#include "tests/support/generated_graphs.hpp"

namespace zbs::bench {
namespace {

/// A line of /proc/self/status in bytes; 0 where there is none.
double memory(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind(key + ":", 0) != 0) continue;
        return std::stod(line.substr(key.size() + 1)) * 1024;
    }
    return 0;
}

/// The most memory in use above what is in use now, from construction on.
class MemoryPeak {
  public:
    MemoryPeak() {
        malloc_trim(0);  // what was freed before must not hide what is needed now
        std::ofstream("/proc/self/clear_refs") << "5";
        before_ = memory("VmRSS");
    }
    double bytes() const { return std::max(0.0, memory("VmHWM") - before_); }

  private:
    double before_ = 0;
};

std::vector<Contender> quick_ones(const Setup& setup) {
    std::vector<Contender> chosen;
    for (const Contender& contender : contenders(setup, {}))
        if (contender.preset != "strong") chosen.push_back(contender);
    return chosen;
}

}  // namespace

void bench_scale(const Setup& setup) {
    struct Large {
        std::string name, hierarchy, distances, goal;
        std::function<TaskGraph()> make;
    };
    std::vector<Large> cases = {
        {"grid 100x100x100", "4:8:6", "1:10:100", "default 3.40M in 5 s, fast 3.85M in 1.4 s",
         [] { return test::stencil(100, 100, 100, false); }},
        {"geometric, 100,000 tasks, 1,000,000 edges", "4:8:16:8", "1:10:100:1000", "under 1 s",
         [] { return test::random_geometric(100'000, 20.05, 1); }},
        {"rmat, 2^17, 1,000,000 draws", "4:8:16:8", "1:10:100:1000", "under 1 s",
         [] { return test::rmat(17, 1'000'000, 1); }},
    };
    Table table{"large graphs, imbalance 0.03",
                {"graph", "tasks", "edges", "processors", "mapper", "J", "seconds", "balanced", "goal"},
                {}};
    for (const Large& large : cases) {
        if (!setup.wants(large.name) || (setup.quick && large.hierarchy == "4:8:6")) continue;
        const TaskGraph graph = large.make();
        const ProcessorTree tree = tree_of(large.hierarchy, large.distances);
        std::vector<Contender> all = quick_ones(setup);
        all.push_back({"metis", "metis"});
        for (const Contender& contender : all) {
            const Outcome outcome = measure(setup, contender, graph, tree, 0.03);
            table.rows.push_back({large.name, graph.task_count(), graph.edge_count(), tree.processor_count(),
                                  contender.name, outcome.cost, outcome.seconds, outcome.balanced, large.goal});
        }
    }
    setup.report->add(table);

    Table growth{"growth: 7-point grids onto 4:8:6 (the graph itself takes about 90 bytes an edge)",
                 {"side", "tasks", "edges", "mapper", "seconds", "us / edge", "peak bytes / edge"},
                 {}};
    const ProcessorTree tree = tree_of("4:8:6", "1:10:100");
    for (const int side : {10, 15, 22, 32, 46, 68, 100}) {
        if (!setup.wants("growth") || (setup.quick && side > 46)) continue;
        const TaskGraph graph = test::stencil(side, side, side, false);
        const auto edges = static_cast<double>(graph.edge_count());
        for (const Contender& contender : quick_ones(setup)) {
            const MemoryPeak peak;
            const Outcome outcome = measure(setup, contender, graph, tree, 0.03);
            growth.rows.push_back({side, graph.task_count(), edges, contender.name, outcome.seconds,
                                   outcome.seconds / edges * 1e6, std::round(peak.bytes() / edges)});
        }
    }
    setup.report->add(growth);
}

}  // namespace zbs::bench
