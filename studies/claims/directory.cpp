#include "studies/claims/directory.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/base/utf8.hpp"
#include "algorithms/model/coscheduling.hpp"

namespace zbs {
namespace {

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

Result<void> check(const ApplicationRegistration& registration) {
    const auto programs = static_cast<std::int32_t>(CoschedulingModel::application_names().size());
    if (registration.name.empty() || registration.name.size() > Directory::kNameLength || !is_utf8(registration.name))
        return invalid("an application's name has 1 to " + std::to_string(Directory::kNameLength) + " bytes of UTF-8",
                       "/name");
    if (registration.walltime <= Duration::zero())
        return invalid("the run time must be longer than nothing", "/walltime");
    const bool none = registration.least_share == 0 && registration.most_share == 0;
    if (!none && (registration.least_share < 1 || registration.most_share > 99 ||
                  registration.least_share > registration.most_share))
        return invalid(
            "shares are 1 to 99 per cent, the least no more than the most: nobody may ask for the whole site",
            "/least_share");
    if (registration.program < -1 || registration.program >= programs)
        return invalid("there are programs 0 to " + std::to_string(programs - 1) + ", and -1 for all others",
                       "/program");
    if (!is_amount(registration.messages_per_s) || !is_amount(registration.bytes_per_message))
        return invalid("messages must be 0 or more", "/messages_per_s");
    if (registration.memory_bytes < 0) return invalid("memory must be 0 or more", "/memory_bytes");
    if (!is_amount(registration.io_bytes_per_s)) return invalid("I/O must be 0 or more", "/io_bytes_per_s");
    return {};
}

/// The same for names that exist with others and names that do not.
Error not_found() { return {ErrorCode::kNotFound, "you have registered no application of this name", {}}; }

}  // namespace

Result<Directory> Directory::make(const SiteCapacity& capacity) {
    if (capacity.processors < 1 || capacity.memory_bytes < 0 || capacity.disk_bytes < 0)
        return invalid("a site has processors, and neither memory nor disk below 0");
    return Directory(capacity);
}

Result<void> Directory::observe(const SiteReading& reading) {
    if (!readings_.empty() && reading.at < readings_.back().at)
        return invalid("a reading must not be older than the last one", "/at");
    if (!is_amount(reading.cpu_available) || reading.cpu_available > 1)
        return invalid("available processor time is 0 to 1", "/cpu_available");
    if (reading.memory_bytes < 0 || reading.disk_bytes < 0)
        return invalid("free memory and disk must be 0 or more", "/memory_bytes");
    if (!is_amount(reading.latency_s) || !is_amount(reading.bandwidth_bytes_per_s))
        return invalid("latency and bandwidth must be 0 or more", "/latency_s");
    readings_.push_back(reading);
    if (readings_.size() > kReadings) readings_.pop_front();
    return {};
}

SiteStatistics Directory::statistics(Duration period) const {
    SiteStatistics out{.capacity = capacity_, .latest = {}, .forecast = {}};
    if (readings_.empty()) return out;
    out.latest = readings_.back();
    SiteReading sum{.at = readings_.back().at};
    double memory = 0, disk = 0, count = 0;
    for (auto reading = readings_.rbegin(); reading != readings_.rend(); ++reading) {
        if (sum.at - reading->at >= period) break;
        sum.cpu_available += reading->cpu_available;
        memory += static_cast<double>(reading->memory_bytes);
        disk += static_cast<double>(reading->disk_bytes);
        sum.latency_s += reading->latency_s;
        sum.bandwidth_bytes_per_s += reading->bandwidth_bytes_per_s;
        ++count;
    }
    if (count == 0) return out;
    out.forecast = SiteReading{.at = sum.at,
                               .cpu_available = sum.cpu_available / count,
                               .memory_bytes = std::llround(memory / count),
                               .disk_bytes = std::llround(disk / count),
                               .latency_s = sum.latency_s / count,
                               .bandwidth_bytes_per_s = sum.bandwidth_bytes_per_s / count};
    return out;
}

Result<void> Directory::register_application(const DirectoryUser& owner, const ApplicationRegistration& registration) {
    if (Result<void> good = check(registration); !good) return good;
    const std::pair key(owner, registration.name);
    if (!records_.contains(key) && names(owner).size() >= kApplications)
        return Error{ErrorCode::kTooLarge,
                     "you have registered " + std::to_string(kApplications) + " applications: withdraw one first",
                     {}};
    records_[key].registered = registration;
    return {};
}

Result<void> Directory::withdraw(const DirectoryUser& caller, const std::string& name) {
    if (records_.erase({caller, name}) == 0) return not_found();
    return {};
}

Result<ApplicationRecord> Directory::find(const DirectoryUser& caller, const std::string& name) const {
    const auto found = records_.find({caller, name});
    if (found == records_.end()) return not_found();
    return found->second;
}

std::vector<std::string> Directory::names(const DirectoryUser& caller) const {
    std::vector<std::string> found;
    for (auto at = records_.lower_bound({caller, std::string()}); at != records_.end() && at->first.first == caller;
         ++at)
        found.push_back(at->first.second);
    return found;
}

Result<void> Directory::record(const DirectoryUser& owner, const std::string& name, const MeasuredRun& run) {
    const auto found = records_.find({owner, name});
    if (found == records_.end()) return not_found();
    if (run.served <= Duration::zero()) return invalid("a run is longer than nothing", "/served");
    if (!(run.slowdown > 0) || !std::isfinite(run.slowdown)) return invalid("a slowdown is above 0", "/slowdown");
    if (!is_amount(run.messages_per_s) || !is_amount(run.bytes_per_message))
        return invalid("messages must be 0 or more", "/messages_per_s");
    std::vector<MeasuredRun>& runs = found->second.measured;
    if (!runs.empty() && run.ended < runs.back().ended)
        return invalid("a run must not end before the one recorded last", "/ended");
    runs.push_back(run);
    if (runs.size() > kRuns) runs.erase(runs.begin());
    return {};
}

Result<Job> Directory::job_of(const DirectoryUser& caller, const std::string& name) const {
    const Result<ApplicationRecord> record = find(caller, name);
    if (!record) return record.error();
    Duration walltime = record->registered.walltime;
    for (const MeasuredRun& run : record->measured) walltime = std::max(walltime, run.served);
    return Job{.walltime = walltime,
               .processors = capacity_.processors,
               .application = record->registered.program,
               .least_share = record->registered.least_share,
               .most_share = record->registered.most_share};
}

}  // namespace zbs
