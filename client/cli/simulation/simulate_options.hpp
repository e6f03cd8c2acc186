#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/metrics/schedule_metrics.hpp"
#include "client/cli/simulation/simulate_input.hpp"

namespace CLI {
class App;
}

namespace zbs::cli {

struct OutputFile {
    const char* option;
    std::string path;
    bool needs_schedule = true;
};

struct SimulateCommand {
    WorkloadSource source;
    std::string policy, compare;
    std::vector<std::string> options;
    std::string allocator;  ///< NAME[:option=value:...]; empty: none
    std::string without_place = "wait";
    std::string rules = "batched";
    std::string slice;               ///< duration; empty: as the simulator has it
    std::int64_t memory_bytes = -1;  ///< -1: not given
    std::string coscheduling;        ///< factors or "application"; empty: as the simulator has it
    double tau_s = to_seconds(kDefaultTau);
    std::string window;  ///< BEGIN:END, durations; empty: all jobs
    bool details = false;
    bool list = false, list_policies = false, list_generators = false, list_allocators = false;
    std::string gantt, events, schedule, waits, export_swf, export_csv;

    std::vector<OutputFile> files() const {
        std::vector<OutputFile> given;
        for (const OutputFile& file : {OutputFile{"--gantt", gantt},
                                       {"--events", events},
                                       {"--schedule", schedule},
                                       {"--waits", waits},
                                       {"--export-swf", export_swf, false},
                                       {"--export-csv", export_csv, false}})
            if (!file.path.empty()) given.push_back(file);
        return given;
    }
};

/// Adds the options of `zbs simulate`, which fill `options`; that must outlive the parsing.
void add_simulate_options(CLI::App& command, SimulateCommand& options);

}  // namespace zbs::cli
