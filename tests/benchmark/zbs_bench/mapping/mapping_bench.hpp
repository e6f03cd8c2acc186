#pragma once
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "algorithms/base/task_runner.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/task_graph.hpp"
#include "tests/benchmark/zbs_bench/mapping/report.hpp"

namespace zbs::bench {

/// What every part of `zbs_bench mapping` needs.
struct Setup {
    std::string data;                  ///< folder with the .graph files and peers.csv; may be empty
    std::vector<std::string> presets;  ///< of our mapper, to be measured
    std::vector<std::string> only;     ///< parts of case names; empty: all cases
    std::uint64_t seed = 1;
    int seeds = 3;       ///< of generated instances
    bool quick = false;  ///< leave the largest sizes out
    TaskRunner* runner = nullptr;
    Report* report = nullptr;

    MapOptions options(const std::string& preset) const;
    bool wants(const std::string& name) const;
};

/// `auto/fast`, `multilevel/fast` and so on, or the name of another mapper: what a row of a table is about.
struct Contender {
    std::string name;
    std::string algorithm;
    std::string preset = "default";
};
/// `auto` and `multilevel` with every preset wanted, then the others named.
std::vector<Contender> contenders(const Setup& setup, const std::vector<std::string>& others);

/// A mapping onto a tree, judged and timed.
struct Outcome {
    double cost = 0;
    double seconds = 0;
    double cpu_seconds = 0;  ///< of all threads, by clock(); seconds depend on what else the machine does
    bool balanced = false;   ///< every block within (1 + imbalance) x ceil(average)
};
Outcome measure(const Setup& setup, const Contender& contender, const TaskGraph& graph, const ProcessorTree& tree,
                double imbalance);

ProcessorTree tree_of(const std::string& hierarchy, const std::string& distances);

class Stopwatch {
  public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Geometric mean of values > 0; 0 of none.
double geometric_mean(const std::vector<double>& values);
double mean(const std::vector<double>& values);

/// The parts, in the order they run.
void bench_peers(const Setup& setup);      ///< the recorded figures of other tools on the shared cases
void bench_generated(const Setup& setup);  ///< graphs that no figure was tuned to
void bench_scale(const Setup& setup);      ///< a million tasks, 4,096 processors, growth
void bench_uneven(const Setup& setup);     ///< zones of different size, speed and delay
void bench_levels(const Setup& setup);     ///< HIER with our mapper on both levels against all levels at once

/// `zbs_bench mapping ...`; arguments as main's, from "mapping" on.
int run_mapping_bench(int argc, char** argv);

}  // namespace zbs::bench
