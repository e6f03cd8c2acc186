#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/ports/machine_sensor.hpp"

namespace zbs::hardware {

/// MachineSensor of this host: hwloc for processors, cores and sockets (only those that this process may use: control
/// group's set, affinity, quota of processor time), /proc for the rest. Errors: kUnavailable where hwloc or /proc
/// report nothing.
Result<std::unique_ptr<MachineSensor>> make_machine_sensor();

/// Time that processors have spent, in clock ticks since boot, summed over some of them.
struct ProcessorTimes {
    std::uint64_t busy = 0;
    std::uint64_t idle = 0;  ///< with waiting for disks; what a hypervisor took is busy
    bool operator==(const ProcessorTimes&) const = default;
};
/// Sums the lines "cpuN" of /proc/stat over `processors`; those that are offline have no line.
ProcessorTimes read_times(std::string_view proc_stat, const std::vector<int>& processors);

/// Processors that were not used by others between two readings: what was idle, and what the own steps used. `own`:
/// their time between the two. 0..`processors`.
double available_processors(const ProcessorTimes& before, const ProcessorTimes& after, Duration own, int processors,
                            long ticks_per_second);

/// Bytes of a line "KEY:   123 kB" of /proc/meminfo.
std::optional<std::uint64_t> memory_line(std::string_view meminfo, std::string_view key);

/// Processors that a cpu.max ("MAX PERIOD", or "max PERIOD") allows, rounded up; none where it sets no limit.
std::optional<int> processors_of_quota(std::string_view cpu_max);

}  // namespace zbs::hardware
