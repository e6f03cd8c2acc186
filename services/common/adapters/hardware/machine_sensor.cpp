#include "services/common/adapters/hardware/machine_sensor.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace zbs::hardware {
namespace {

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The file of a control group (v2) that this process is in; empty where there is none.
std::string group_file(const char* name) {
    const std::string groups = text_of("/proc/self/cgroup");
    const std::size_t at = groups.starts_with("0::") ? 0 : groups.find("\n0::");
    if (at == std::string::npos) return {};
    const std::size_t begin = groups.find("::", at) + 2;
    return text_of("/sys/fs/cgroup" + groups.substr(begin, groups.find('\n', begin) - begin) + "/" + name);
}

struct BitmapDeleter {
    void operator()(hwloc_bitmap_s* set) const { hwloc_bitmap_free(set); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

struct TopologyDeleter {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

/// Objects of a type that hold at least one of the processors; 1 where the machine reports none.
int count_objects(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_bitmap_t usable) {
    int count = 0;
    for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;)
        count += object->cpuset != nullptr && hwloc_bitmap_intersects(object->cpuset, usable) != 0;
    return std::max(count, 1);
}

class HostSensor : public MachineSensor {
  public:
    HostSensor(NodeDescription description, std::vector<int> processors)
        : description_(std::move(description)), processors_(std::move(processors)) {
        before_ = read_times(text_of("/proc/stat"), processors_);
    }

    NodeDescription describe() override { return description_; }

    NodeLoad load(Duration own_cpu) override {
        NodeLoad load;
        std::istringstream(text_of("/proc/loadavg")) >> load.load_1 >> load.load_5 >> load.load_15;
        const std::uint64_t free = memory_line(text_of("/proc/meminfo"), "MemAvailable").value_or(0);
        load.memory_available_bytes = std::min(free, description_.memory_bytes);
        const ProcessorTimes now = read_times(text_of("/proc/stat"), processors_);
        load.cpu_available =
            available_processors(before_, now, own_cpu - own_before_, description_.processors, sysconf(_SC_CLK_TCK));
        before_ = now;
        own_before_ = own_cpu;
        return load;
    }

  private:
    NodeDescription description_;
    std::vector<int> processors_;  ///< numbers of the kernel
    ProcessorTimes before_;
    Duration own_before_{};
};

Error unavailable(const char* what) { return {ErrorCode::kUnavailable, what, {}}; }

}  // namespace

ProcessorTimes read_times(std::string_view proc_stat, const std::vector<int>& processors) {
    ProcessorTimes times;
    std::istringstream in{std::string(proc_stat)};
    for (std::string line; std::getline(in, line);) {
        int number = -1;
        if (!line.starts_with("cpu") || std::sscanf(line.c_str(), "cpu%d", &number) != 1) continue;
        if (std::ranges::find(processors, number) == processors.end()) continue;
        // user nice system idle iowait irq softirq steal; guests are in user already
        unsigned long long f[8] = {};
        std::sscanf(line.c_str(), "%*s %llu %llu %llu %llu %llu %llu %llu %llu", &f[0], &f[1], &f[2], &f[3], &f[4],
                    &f[5], &f[6], &f[7]);
        times.busy += f[0] + f[1] + f[2] + f[5] + f[6] + f[7];
        times.idle += f[3] + f[4];
    }
    return times;
}

double available_processors(const ProcessorTimes& before, const ProcessorTimes& after, Duration own, int processors,
                            long ticks_per_second) {
    const double busy = after.busy > before.busy ? static_cast<double>(after.busy - before.busy) : 0;
    const double idle = after.idle > before.idle ? static_cast<double>(after.idle - before.idle) : 0;
    if (busy + idle <= 0) return processors;  // no time has passed
    const double ours = std::clamp(to_seconds(own) * static_cast<double>(ticks_per_second), 0.0, busy);
    return std::clamp((idle + ours) / (busy + idle), 0.0, 1.0) * processors;
}

std::optional<std::uint64_t> memory_line(std::string_view meminfo, std::string_view key) {
    std::istringstream in{std::string(meminfo)};
    const std::string begin = std::string(key) + ":";
    for (std::string line; std::getline(in, line);) {
        unsigned long long kilobytes = 0;
        if (line.starts_with(begin) && std::sscanf(line.c_str() + begin.size(), "%llu kB", &kilobytes) == 1)
            return kilobytes * 1024;
    }
    return std::nullopt;
}

std::optional<int> processors_of_quota(std::string_view cpu_max) {
    double quota = 0, period = 0;
    std::istringstream in{std::string(cpu_max)};
    if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;  // "max" is no number
    return std::max(1, static_cast<int>(std::ceil(std::min(quota / period, 1e6))));
}

Result<std::unique_ptr<MachineSensor>> make_machine_sensor() {
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) return unavailable("hwloc cannot be used");
    const Topology topology(made);
    if (hwloc_topology_load(topology.get()) != 0) return unavailable("hwloc cannot read this machine's topology");
    const Bitmap usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology.get())));
    const Bitmap bound(hwloc_bitmap_alloc());
    if (!usable || !bound) return unavailable("hwloc has no memory");
    if (hwloc_get_cpubind(topology.get(), bound.get(), HWLOC_CPUBIND_PROCESS) == 0)
        hwloc_bitmap_and(usable.get(), usable.get(), bound.get());
    std::vector<int> processors;
    for (int i = hwloc_bitmap_first(usable.get()); i >= 0; i = hwloc_bitmap_next(usable.get(), i))
        processors.push_back(i);
    if (processors.empty()) return unavailable("this process may use no processor");

    NodeDescription description;
    description.processors = static_cast<int>(processors.size());
    if (const auto quota = processors_of_quota(group_file("cpu.max")))
        description.processors = std::min(description.processors, *quota);
    description.cores = count_objects(topology.get(), HWLOC_OBJ_CORE, usable.get());
    description.sockets = count_objects(topology.get(), HWLOC_OBJ_PACKAGE, usable.get());
    const auto memory = memory_line(text_of("/proc/meminfo"), "MemTotal");
    if (!memory) return unavailable("/proc/meminfo cannot be read");
    description.memory_bytes = *memory;
    const std::string limit = group_file("memory.max");
    std::uint64_t bytes = 0;
    if (std::from_chars(limit.data(), limit.data() + limit.size(), bytes).ec == std::errc{} && bytes > 0)
        description.memory_bytes = std::min(description.memory_bytes, bytes);
    const unsigned version = hwloc_get_api_version();
    description.hwloc_version = std::to_string(version >> 16U) + "." + std::to_string((version >> 8U) & 0xFFU) + "." +
                                std::to_string(version & 0xFFU);
    description.clock_source = first_line(text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    return std::unique_ptr<MachineSensor>(new HostSensor(std::move(description), std::move(processors)));
}

}  // namespace zbs::hardware
