#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/simulation/simulate_output.hpp"

/// Simulated schedules as JSON.
namespace zbs::cli {

/// Keys in the order in which they are printed.
using OrderedJson = nlohmann::ordered_json;

/// How the schedules of one command came about.
struct ScheduleSettings {
    std::string rules;
    double tau_s = 0;
    std::string coscheduling;  ///< empty: as the simulator has it
    std::string allocator;     ///< empty: none
    bool has_seed = false;     ///< the workload depends on `seed`
    std::uint64_t seed = 0;
    bool with_details = false;
    OrderedJson all;  ///< what the schedule depends on beside the policy, by the names of options
    /// Jobs of which the policy or the machine would have to know more.
    std::size_t without_priority = 0, without_memory = 0;
};

/// All that a schedule depends on beside the policy, so that it can be made again: options as given, or their defaults.
struct RunSettings {
    const WorkloadSource& source;
    std::string rules;
    double tau_s = 0;
    std::string allocator, without_place;  ///< empty: no allocator
    std::optional<double> slice_s{};       ///< where the policy takes slices
    std::int64_t memory_bytes = 0;         ///< likewise
    std::string coscheduling{};            ///< empty: jobs have no shares
    std::string window;                    ///< as given; empty: all jobs
};
OrderedJson encode(const RunSettings& settings);

OrderedJson encode(const ScheduleSettings& settings, const LoadedWorkload& loaded, const SimulatedSchedule& schedule);
/// The document of one schedule, or of a comparison. Precondition: not empty.
OrderedJson encode_document(std::vector<OrderedJson> schedules, bool is_comparison);
/// On one line. Bytes that are no UTF-8 are replaced.
std::string dump(const OrderedJson& json);
/// Jobs simulated in a second of wall time.
double jobs_per_second(const SimulatedSchedule& schedule);

}  // namespace zbs::cli
