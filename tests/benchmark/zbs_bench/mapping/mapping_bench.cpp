#include "tests/benchmark/zbs_bench/mapping/mapping_bench.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <numeric>
#include <thread>

#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/mapping/trees/tree_mapper.hpp"
#include "services/common/adapters/system/thread_runner.hpp"

namespace zbs::bench {

MapOptions Setup::options(const std::string& preset) const {
    return {.seed = seed,
            .max_tasks_per_processor = 0,
            .preset = preset == "fast"     ? Preset::kFast
                      : preset == "strong" ? Preset::kStrong
                                           : Preset::kDefault,
            .runner = runner};
}

bool Setup::wants(const std::string& name) const {
    return only.empty() ||
           std::ranges::any_of(only, [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

std::vector<Contender> contenders(const Setup& setup, const std::vector<std::string>& others) {
    std::vector<Contender> all;
    for (const std::string algorithm : {"auto", "multilevel"}) {
        for (const std::string& preset : setup.presets) all.push_back({algorithm + "/" + preset, algorithm, preset});
    }
    for (const std::string& name : others) all.push_back({name, name});
    return all;
}

Outcome measure(const Setup& setup, const Contender& contender, const TaskGraph& graph, const ProcessorTree& tree,
                double imbalance) {
    MapOptions options = setup.options(contender.preset);
    options.imbalance = imbalance;
    const Stopwatch watch;
    const std::clock_t begin = std::clock();
    const auto mapped = map_onto_tree(graph, tree, contender.algorithm, options);
    const double cpu_seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const double seconds = watch.seconds();
    if (!mapped) {
        std::cerr << contender.name << ": " << mapped.error().message << "\n";
        return {.cost = std::nan(""), .seconds = seconds, .cpu_seconds = cpu_seconds, .balanced = false};
    }
    const TreeReport report = evaluate_on_tree(graph, tree, *mapped, load_bounds(graph, tree, options));
    return {.cost = report.cost, .seconds = seconds, .cpu_seconds = cpu_seconds, .balanced = report.feasible};
}

ProcessorTree tree_of(const std::string& hierarchy, const std::string& distances) {
    return ProcessorTree::uniform(parse_hierarchy(hierarchy).value(), parse_distances(distances).value()).value();
}

double geometric_mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

double mean(const std::vector<double>& values) {
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

int run_mapping_bench(int argc, char** argv) {
    const std::map<std::string, void (*)(const Setup&)> parts = {{"peers", bench_peers},
                                                                 {"generated", bench_generated},
                                                                 {"scale", bench_scale},
                                                                 {"uneven", bench_uneven},
                                                                 {"levels", bench_levels}};
    Setup setup;
    std::vector<std::string> wanted = {"peers", "generated", "scale", "uneven", "levels"};
    std::string json;
    int threads = 2;
    setup.presets = {"fast", "default", "strong"};
    if (const char* data = std::getenv("ZBS_MAPPING_DATA")) setup.data = data;

    CLI::App app("How good and how fast task mapping is, beside other tools' recorded figures and our baselines",
                 "zbs_bench mapping");
    app.add_option("--data", setup.data, "folder with .graph files and peers.csv (or set ZBS_MAPPING_DATA)");
    app.add_option("--part", wanted, "peers, generated, scale, uneven, levels; may be repeated")
        ->check(CLI::IsMember({"peers", "generated", "scale", "uneven", "levels"}));
    app.add_option("--preset", setup.presets, "fast, default, strong; may be repeated")
        ->check(CLI::IsMember({"fast", "default", "strong"}));
    app.add_option("--only", setup.only, "only cases whose name contains this; may be repeated");
    app.add_option("--threads", threads, "of our mapper")->check(CLI::Range(1, 1024))->capture_default_str();
    app.add_option("--seed", setup.seed, "of the mappers")->capture_default_str();
    app.add_option("--seeds", setup.seeds, "how many instances of each generated family")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_flag("--quick", setup.quick, "leave the largest sizes out");
    app.add_option("--json", json, "write all tables here, too");
    CLI11_PARSE(app, argc, argv);

    std::string command = "zbs_bench";
    for (int i = 0; i < argc; ++i) command += std::string(" ") + argv[i];
    std::cout << "cores: " << std::thread::hardware_concurrency() << ", threads of our mapper: " << threads
              << "\ncommand: " << command << std::endl;
    system::ThreadRunner runner(threads);
    Report report;
    setup.runner = &runner;
    setup.report = &report;
    for (const std::string& part : wanted) parts.at(part)(setup);
    if (!json.empty()) {
        std::ofstream file(json);
        file << report.json(command, std::thread::hardware_concurrency()).dump(1) << "\n";
        if (!file.flush()) {
            std::cerr << "zbs_bench: cannot write " << json << "\n";
            return 1;
        }
    }
    return 0;
}

}  // namespace zbs::bench
