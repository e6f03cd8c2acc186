#include "tests/simulation/storm_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "services/common/adapters/system/config_file.hpp"

namespace zbs::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using system::ConfigFile;

constexpr int kMostZones = 20;         ///< their names are letters
constexpr double kMostMinutes = 1440;  ///< of a phase
constexpr double kMostSeconds = 7200;  ///< of a fault

struct Kind {
    std::string_view name;
    bool has_duration = true;
    StormFault fault;  ///< where the file says nothing
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all = {
        {"crash", true, {.kind = FaultKind::kCrash, .least = milliseconds{200}, .most = seconds{120}}},
        {"stop", true, {.kind = FaultKind::kStop, .least = seconds{1}, .most = seconds{100}}},
        {"partition", true, {.kind = FaultKind::kPartition, .least = seconds{1}, .most = seconds{120}}},
        {"bad_lines", true, {.kind = FaultKind::kBadLines, .least = seconds{5}, .most = seconds{120}}},
        {"slow_disk",
         true,
         {.kind = FaultKind::kSlowDisk, .least = seconds{5}, .most = seconds{60}, .sync = seconds{2}}},
        {"failing_disk", false, {.kind = FaultKind::kFailingDisk}},
        {"killed_process", false, {.kind = FaultKind::kKilledProcess}},
        {"clock_jump", true, {.kind = FaultKind::kClockJump, .most = minutes{10}}},
        {"liar", true, {.kind = FaultKind::kLiar, .least = seconds{5}, .most = seconds{60}}},
        {"lost_host", false, {.kind = FaultKind::kLostHost, .hosts = "zones"}},
        {"burst", false, {.kind = FaultKind::kBurst, .applications = 4}},
    };
    return all;
}

Duration to_duration(double value, double unit_s) {
    return Duration{static_cast<std::int64_t>(std::llround(value * unit_s * 1e6))};
}

/// Reads one file key by key.
class Reader {
  public:
    explicit Reader(ConfigFile file) : file_(std::move(file)) {}

    Result<StormPlan> read(const std::string& path) {
        StormPlan plan{.name = std::filesystem::path(path).stem().string()};
        plan.storm = minutes_of("storm_min", minutes{33}, 1);
        plan.calm = minutes_of("calm_min", minutes{27}, 10);
        plan.zones_least = static_cast<int>(file_.integer("zones_least", 3, 2, kMostZones));
        plan.zones_most =
            static_cast<int>(file_.integer("zones_most", std::max(8, plan.zones_least), plan.zones_least, kMostZones));
        plan.pause_least = seconds_of("pause_least_s", seconds{1}, Duration{1});
        plan.pause_most =
            seconds_of("pause_most_s", std::max<Duration>(seconds{60}, plan.pause_least), plan.pause_least);
        const std::size_t entries = file_.table_count("fault");
        if (entries == 0) file_.fail("fault", "there is no fault; write at least one table [[fault]] with its kinds");
        for (std::size_t i = 0; i < entries; ++i)
            plan.entries.push_back(read_entry("fault." + std::to_string(i) + ".", plan));
        if (auto good = file_.finish(); !good) return good.error();
        return plan;
    }

  private:
    Duration seconds_of(const std::string& key, Duration fallback, Duration least) {
        return to_duration(file_.number(key, to_seconds(fallback), to_seconds(least), kMostSeconds), 1);
    }
    Duration minutes_of(const std::string& key, Duration fallback, double least) {
        return to_duration(file_.number(key, to_seconds(fallback) / 60, least, kMostMinutes), 60);
    }

    StormEntry read_entry(const std::string& at, const StormPlan& plan) {
        StormEntry entry;
        const std::vector<std::string> names = file_.texts(at + "kinds");
        if (names.empty()) file_.fail(at + "kinds", "'" + at + "kinds' must name at least one of " + all_names());
        for (const std::string& name : names) {
            const auto kind = std::ranges::find(kinds(), name, &Kind::name);
            if (kind == kinds().end()) {
                file_.fail(at + "kinds", "'" + name + "' is no kind of fault; write some of " + all_names());
                return entry;
            }
            entry.faults.push_back(kind->fault);
            if (kind->has_duration) read_duration(at, entry.faults.back());
            read_details(at, entry.faults.back(), plan);
        }
        entry.weight = static_cast<int>(file_.integer(at + "weight", 1, 1, 1'000));
        const bool loses =
            std::ranges::any_of(entry.faults, [](const StormFault& one) { return one.kind == FaultKind::kLostHost; });
        // Two zones are left: what was lost is planned again.
        entry.at_most = static_cast<int>(loses ? file_.integer(at + "at_most", 1, 1, std::max(1, plan.zones_least - 2))
                                               : file_.integer(at + "at_most", 0, 0, 1'000));
        const double storm_min = to_seconds(plan.storm) / 60;
        const double from = file_.number(at + "from_min", 0, 0, storm_min);
        entry.from = to_duration(from, 60);
        entry.until = to_duration(file_.number(at + "until_min", storm_min, from, storm_min), 60);
        return entry;
    }

    void read_duration(const std::string& at, StormFault& fault) {
        if (fault.kind == FaultKind::kClockJump) {  // either way: there is no least
            fault.most = seconds_of(at + "most_s", fault.most, Duration{0});
            return;
        }
        fault.least = seconds_of(at + "least_s", fault.least, Duration{0});
        fault.most = seconds_of(at + "most_s", std::max(fault.most, fault.least), fault.least);
    }

    void read_details(const std::string& at, StormFault& fault, const StormPlan& plan) {
        if (fault.kind == FaultKind::kCrash && file_.has(at + "registry_most_s")) {
            fault.registry_least = seconds_of(at + "registry_least_s", fault.least, Duration{0});
            fault.registry_most = seconds_of(at + "registry_most_s", {}, fault.registry_least);
        }
        if (fault.kind == FaultKind::kBadLines) {
            fault.delay = to_duration(file_.number(at + "delay_ms", 200, 1, 10'000), 1e-3);
            fault.jitter = to_duration(file_.number(at + "jitter_ms", 500, 1, 10'000), 1e-3);
            fault.loss = file_.number(at + "loss", 0.3, 0, 1);
            fault.duplicates = file_.number(at + "duplicates", 0.2, 0, 1);
            fault.stragglers = file_.number(at + "stragglers", 0.05, 0, 1);
            return;  // of all hosts
        }
        if (fault.kind == FaultKind::kSlowDisk)
            fault.sync = to_duration(file_.number(at + "sync_ms", to_seconds(fault.sync) * 1e3, 50, 60'000), 1e-3);
        if (fault.kind == FaultKind::kBurst) {
            fault.applications = static_cast<int>(file_.integer(at + "applications", fault.applications, 1, 100));
            return;  // of all users
        }
        fault.hosts = file_.text(at + "hosts", fault.hosts);
        const bool is_zone = fault.hosts.size() == 1 && fault.hosts[0] >= 'a' &&
                             fault.hosts[0] < static_cast<char>('a' + plan.zones_least);
        if (fault.kind == FaultKind::kLostHost && !is_zone && fault.hosts != "zones")
            return file_.fail(at + "hosts", "'" + at + "hosts' of lost_host must be zones or the letter of a zone");
        if (!is_zone && fault.hosts != "all" && fault.hosts != "zones" && fault.hosts != "registry")
            file_.fail(at + "hosts", "'" + at +
                                         "hosts' must be all, zones, registry or one of the first zones_least (" +
                                         std::to_string(plan.zones_least) + ") letters, which every world has");
    }

    static std::string all_names() {
        std::string text;
        for (const Kind& kind : kinds()) text.append(text.empty() ? "" : ", ").append(kind.name);
        return text;
    }

    ConfigFile file_;
};

}  // namespace

Result<StormPlan> read_storm(const std::string& path) {
    Result<ConfigFile> file = ConfigFile::read(path);
    if (!file) return file.error();
    return Reader(*std::move(file)).read(path);
}

Result<std::vector<StormPlan>> read_storms(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code fault;
    for (const auto& entry : std::filesystem::directory_iterator(folder, fault))
        if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
    if (paths.empty())
        return Error{ErrorCode::kNotFound,
                     "there are no storms (NAME.toml)" + (fault ? ": " + fault.message() : std::string{}), folder};
    std::ranges::sort(paths);
    std::vector<StormPlan> plans;
    for (const std::string& path : paths) {
        Result<StormPlan> plan = read_storm(path);
        if (!plan) return plan.error();
        plans.push_back(*std::move(plan));
    }
    return plans;
}

const StormPlan& mixed_storm() {
    static const StormPlan plan = [] {
        Result<StormPlan> read = read_storm(ZBS_STORMS_FOLDER "/all.toml");
        if (!read) {
            std::fprintf(stderr, "%s\n", text_with_pointer(read.error()).c_str());
            std::exit(2);
        }
        return *std::move(read);
    }();
    return plan;
}

}  // namespace zbs::simulation
