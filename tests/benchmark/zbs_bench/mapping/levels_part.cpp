#include <fstream>
#include <sstream>

#include "algorithms/formats/metis_graph.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/mapping/trees/tree_mapper.hpp"
#include "tests/benchmark/zbs_bench/mapping/mapping_bench.hpp"
#include "tests/support/generated_graphs.hpp"

namespace zbs::bench {
namespace {

struct Named {
    std::string name;
    TaskGraph graph;
};

std::vector<Named> make_graphs(const Setup& setup) {
    std::vector<Named> made;
    const auto add = [&](const std::string& name, TaskGraph graph) {
        if (setup.wants(name)) made.push_back({name, std::move(graph)});
    };
    for (int i = 0; i < setup.seeds; ++i) {
        const auto seed = static_cast<std::uint64_t>(100 + i);
        const std::string of = " seed " + std::to_string(seed);
        add("mesh 5k" + of, test::mesh_with_holes(5'000, seed));
        add("geometric 4k" + of, test::random_geometric(4'000, 10, seed));
        add("rmat 2^10" + of, test::rmat(10, 8'000, seed));
    }
    add("stencil7 20x18x16", test::stencil(20, 18, 16, false));
    add("stencil27 15x14x13", test::stencil(15, 14, 13, true));
    for (const std::string name : {"3elt", "coupled3", "ocean_240x120", "amrquad_9", "lulesh_216", "npb_bt_a_256"}) {
        if (setup.data.empty()) break;
        std::ifstream file(setup.data + "/" + name + ".graph");
        std::stringstream text;
        text << file.rdbuf();
        if (auto graph = formats::read_metis_graph(text.str(), name)) add(name, *std::move(graph));
    }
    return made;
}

}  // namespace

void bench_levels(const Setup& setup) {
    const ProcessorTree tree = tree_of("4:8:6", "1:10:100");
    Table table{
        "HIER with our mapper on both levels (zones, then each zone alone), and level by level, over all at once",
        {"graph", "preset", "J at once", "HIER / at once", "level by level / at once", "seconds at once",
         "seconds HIER", "balanced"},
        {}};
    std::map<std::string, std::vector<double>> two, each;
    for (const Named& in : make_graphs(setup)) {
        for (const std::string& preset : setup.presets) {
            MapOptions options = setup.options(preset);
            options.level1 = "multilevel";
            const LoadBounds bounds = load_bounds(in.graph, tree, options);
            const auto run = [&](const char* algorithm, const char* level2, double& seconds) {
                options.level2 = level2;
                const Stopwatch watch;
                const auto mapped = map_onto_tree(in.graph, tree, algorithm, options).value();
                seconds = watch.seconds();
                return evaluate_on_tree(in.graph, tree, mapped, bounds);
            };
            double all_seconds = 0, hier_seconds = 0, level_seconds = 0;
            const TreeReport all = run("multilevel", "multilevel", all_seconds);
            const TreeReport hier = run("hier", "multilevel", hier_seconds);
            const TreeReport levels = run("hier", "hier", level_seconds);
            two[preset].push_back(hier.cost / all.cost);
            each[preset].push_back(levels.cost / all.cost);
            table.rows.push_back({in.name, preset, all.cost, two[preset].back(), each[preset].back(), all_seconds,
                                  hier_seconds, all.feasible && hier.feasible && levels.feasible});
        }
    }
    setup.report->add(table);
    Table summary{
        "HIER over all at once, geometric mean (goal: 1.03)", {"preset", "two levels", "level by level", "graphs"}, {}};
    for (const std::string& preset : setup.presets)
        summary.rows.push_back({preset, geometric_mean(two[preset]), geometric_mean(each[preset]), two[preset].size()});
    setup.report->add(summary);
    const auto zones = static_cast<int>(tree.groups()[0].child_count);
    setup.report->say("numbers told to the planner on 4:8:6: HIER " + std::to_string(zones) + " aggregates and " +
                      std::to_string(zones * (zones - 1) / 2) + " links between zones; all at once " +
                      std::to_string(tree.processor_count()) + " processors and " +
                      std::to_string(tree.processor_count() * (tree.processor_count() - 1) / 2) +
                      " pairs, or the tree of all groups");
}

}  // namespace zbs::bench
