#include <cmath>
#include <limits>

#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/objective.hpp"
#include "algorithms/mapping/trees/tree_mapper.hpp"
#include "tests/benchmark/zbs_bench/mapping/mapping_bench.hpp"
#include "tests/support/generated_graphs.hpp"
#include "tests/support/graphs.hpp"

namespace zbs::bench {
namespace {

struct Instance {
    std::string name;
    TaskGraph graph;
    ResourceGraph resources;
    int tasks_per_processor;
};

/// Fewer tasks than processors, one each, and several on each; graphs of three kinds.
std::vector<Instance> make_instances(const Setup& setup) {
    std::vector<Instance> made;
    for (int i = 0; i < setup.seeds; ++i) {
        const auto seed = static_cast<std::uint64_t>(500 + i);
        const ResourceGraph six_four = test::flat_zones({6, 4}, {2e-4, 2e8});
        const ResourceGraph drawn = test::uneven_zones({.zones = 3 + i % 3}, seed);
        for (const ResourceGraph* resources : {&six_four, &drawn}) {
            for (const double share : {0.6, 1.0, 4.0}) {
                const int tasks = std::max(4, static_cast<int>(share * resources->processor_count()));
                const std::string name =
                    std::string(resources == &six_four ? "6+4" : "drawn") + (share < 1   ? ", 0.6 tasks a processor"
                                                                             : share > 1 ? ", 4 tasks a processor"
                                                                                         : ", 1 task a processor");
                const int teams = std::max(2, tasks / 6);
                const TaskGraph graphs[] = {
                    test::large_clusters(tasks, teams, 4, 1, seed),
                    test::transport(teams, std::max(1, (tasks - 1) / teams), 20, seed),
                    test::random_graph(tasks, 6.0 / tasks, seed),
                };
                const char* kinds[] = {", clusters", ", teams", ", random"};
                for (std::size_t kind = 0; kind < 3; ++kind)
                    made.push_back({name + kinds[kind] + ", seed " + std::to_string(seed), graphs[kind], *resources,
                                    share > 1 ? 0 : 1});
            }
        }
    }
    return made;
}

struct Judged {
    double value, seconds;
    bool balanced = true;
};
/// -1: a is better; a mapping above the bound never is better than one within.
int compare(const Judged& a, const Judged& b) {
    if (a.balanced != b.balanced) return a.balanced ? -1 : 1;
    return a.value < b.value * (1 - 1e-6) ? -1 : b.value < a.value * (1 - 1e-6) ? 1 : 0;
}

/// Asks the mapper and judges what it gives by the objective. A cost is one under the bound on every processor's load:
/// mappings that exceed it are repaired first, by moves that cost least.
Judged judge(const Setup& setup, const Contender& contender, const Instance& in, Objective objective) {
    MapOptions options = setup.options(contender.preset);
    options.max_tasks_per_processor = in.tasks_per_processor;
    options.objective = objective;
    options.imbalance = 0.3;  // tasks are few on a processor, and of 1 to 2 ms
    const WeighedTraffic weighed = weigh_traffic(in.graph, in.resources, options.weigh_messages);
    const Stopwatch watch;
    std::vector<ProcessorIndex> processor_of;
    if (const Mapper* mapper = find_mapper(contender.algorithm)) {
        processor_of = mapper->map(in.graph, in.resources, options).value().processor_of;
    } else {
        processor_of = map_onto_tree(weighed.graph, weighed.tree, contender.algorithm, options).value();
    }
    const double seconds = watch.seconds();
    bool balanced = true;
    if (objective == Objective::kCost) {
        balanced = keep_bounds(weighed.graph, weighed.tree, load_bounds(in.graph, weighed.tree, options), processor_of);
    }
    return {make_objective(objective, in.graph, in.resources, processor_of)->recompute(), seconds, balanced};
}

}  // namespace

void bench_uneven(const Setup& setup) {
    const std::vector<Instance> instances = make_instances(setup);
    struct Aim {
        std::string name;
        Objective objective;
    };
    const std::vector<Aim> aims = {
        {"cost", Objective::kCost}, {"occupancy", Objective::kOccupancy}, {"time", Objective::kTime}};
    const std::vector<std::string> baselines = {"global", "hier", "metis", "greedy", "block", "round-robin", "random"};
    Table table{"uneven zones: ours, asked for the objective, against each baseline (value / ours, geometric mean)",
                {"objective", "ours", "baseline", "better", "equal", "worse", "ours unbalanced", "its unbalanced",
                 "baseline / ours", "our seconds", "its seconds"},
                {}};
    Table lost{"uneven zones: where a baseline is better",
               {"objective", "ours", "baseline", "instance", "baseline / ours"},
               {}};
    for (const Aim& aim : aims) {
        if (!setup.wants(aim.name)) continue;
        for (const Contender& mine : contenders(setup, {})) {
            std::vector<Judged> ours;
            std::vector<double> ours_seconds;
            for (const Instance& in : instances) {
                const Judged judged = judge(setup, mine, in, aim.objective);
                ours.push_back(judged);
                ours_seconds.push_back(judged.seconds);
            }
            for (const std::string& name : baselines) {
                int better = 0, equal = 0, worse = 0, off = 0, our_off = 0;
                std::vector<double> ratios, seconds;
                for (std::size_t i = 0; i < instances.size(); ++i) {
                    const Judged judged = judge(setup, {name, name}, instances[i], aim.objective);
                    seconds.push_back(judged.seconds);
                    off += judged.balanced ? 0 : 1;
                    our_off += ours[i].balanced ? 0 : 1;
                    const bool both = judged.balanced && ours[i].balanced;
                    if (both && ours[i].value > 0 && judged.value > 0) ratios.push_back(judged.value / ours[i].value);
                    const int order = compare(ours[i], judged);
                    if (order > 0) {
                        lost.rows.push_back(
                            {aim.name, mine.name, name, instances[i].name, judged.value / ours[i].value});
                    }
                    (order < 0 ? better : order > 0 ? worse : equal) += 1;
                }
                table.rows.push_back({aim.name, mine.name, name, better, equal, worse, our_off, off,
                                      geometric_mean(ratios), mean(ours_seconds), mean(seconds)});
            }
        }
    }
    setup.report->add(table);
    setup.report->add(lost);
}

}  // namespace zbs::bench
