#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/claims/claim.hpp"

// The experiments of [Prabhakar2003, chapter 5] with our heuristics and our replay. Everything but Z7 is a function of
// the code alone.
namespace zbs::experiments {

struct Table {
    std::string name;  ///< of its file, without .csv
    std::string caption;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
};
struct Plot {
    std::string name;  ///< of its file, without .svg
    std::string svg;
};
/// A statement of the thesis, judged by our figures.
struct Claim {
    std::string text;
    bool holds = false;
    bool asserted = false;       ///< the test fails where it does not hold
    std::string ours;            ///< the figures behind it
    std::string published = {};  ///< empty: stated, or the figure's values are lost
    claims::Reason reason = {};  ///< why it may not hold
};
struct Experiment {
    std::string id;  ///< "Z1"
    std::string title;
    std::string remark = {};  ///< of every claim
    std::string setup;        ///< what was run, with the choices where the thesis is silent
    std::vector<Table> tables;
    std::vector<Plot> plots;
    std::vector<Claim> claims;
    std::string gaps;  ///< why ours differ from the published figures
};

Experiment mappings_of_the_example();           ///< Z1: figure 5.2, table 5.2
Experiment run_time_by_ratio();                 ///< Z2: figure 5.3
Experiment all_orders_of_processors();          ///< Z3: figure 5.4
Experiment message_frequency();                 ///< Z4: figure 5.5
Experiment granularity();                       ///< Z5: figure 5.6
Experiment information_over_wide_area_links();  ///< Z6: section 5.5.1
/// Z7: figure 5.7. Measured: another run gives other figures. `largest` is the largest number of tasks.
Experiment scheduling_time(int largest);

/// The times that Z7 is judged by.
struct SchedulingTimes {
    int tasks = 0, processors = 0;
    /// Of clustering alone, GLOBAL with an edge for every pair, and each heuristic; empty: not measured.
    std::vector<std::optional<double>> seconds;
};
std::vector<SchedulingTimes> measure_scheduling(int largest);
/// Z7 by these times. Precondition: a time of every kind at two sizes at least.
Experiment scheduling_time(const std::vector<SchedulingTimes>& measured);

std::vector<Experiment> deterministic_experiments();

/// The claims as those of the other sources; tables and plots as files.
claims::Part part_of(const Experiment& experiment);
/// The experiments as studies, in the order of their numbers. Z7 goes up to 256 tasks, times the length of the effort.
std::span<const claims::Study> studies();

std::string csv_of(const Table& table);
std::string markdown_of(const Experiment& experiment);
std::string page_of(const std::vector<Experiment>& experiments);

}  // namespace zbs::experiments
