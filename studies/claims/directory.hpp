#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/job.hpp"
#include "algorithms/policy/scojo.hpp"

namespace zbs {

/// What a site has, whatever runs on it.
struct SiteCapacity {
    std::int32_t processors = 0;
    std::int64_t memory_bytes = 0;  ///< of the whole site, as disk_bytes
    std::int64_t disk_bytes = 0;
    bool operator==(const SiteCapacity&) const = default;
};
/// What a monitor saw at an instant.
struct SiteReading {
    Time at{};
    double cpu_available = 0;       ///< part of the processors' time, 0 .. 1
    std::int64_t memory_bytes = 0;  ///< that is free and not paged out
    std::int64_t disk_bytes = 0;    ///< free
    double latency_s = 0;           ///< to the outside, one way
    double bandwidth_bytes_per_s = 0;
    bool operator==(const SiteReading&) const = default;
};
/// What everybody may know of a site: nothing of a single job or user.
struct SiteStatistics {
    SiteCapacity capacity;
    std::optional<SiteReading> latest;
    /// Mean of the readings of the period that was asked for, `at` being its last; nothing where there are none.
    std::optional<SiteReading> forecast;
    bool operator==(const SiteStatistics&) const = default;
};

/// Whom information belongs to: as the edge has identified the caller.
struct DirectoryUser {
    std::string organisation, name;
    auto operator<=>(const DirectoryUser&) const = default;
};

/// What a user says of an application: the registration part.
struct ApplicationRegistration {
    std::string name;
    Duration walltime{};                          ///< estimate of the run time on the whole site alone, > 0
    std::int8_t least_share = 0, most_share = 0;  ///< per cent, 1 .. 99, least <= most; both 0: as the scheduler has it
    std::int32_t program = -1;                    ///< of CoschedulingModel::application_names(); -1: another
    double messages_per_s = 0, bytes_per_message = 0;  ///< between its processes
    std::int64_t memory_bytes = 0;                     ///< of all its processes
    double io_bytes_per_s = 0;
    bool operator==(const ApplicationRegistration&) const = default;
};
/// What one of its runs showed.
struct MeasuredRun {
    Time ended{};
    Duration served{};    ///< time on the whole site, shares multiplied out, slowdown not
    double slowdown = 1;  ///< beside the others that ran then
    double messages_per_s = 0, bytes_per_message = 0;
    bool operator==(const MeasuredRun&) const = default;
};
/// Both parts, kept apart: what was measured never changes what was registered.
struct ApplicationRecord {
    ApplicationRegistration registered;
    std::vector<MeasuredRun> measured;  ///< in the order of their ends, the last Directory::kRuns
    bool operator==(const ApplicationRecord&) const = default;
};

/// The directory of a site [Huang2004, section 5.4]: the system part, static and as monitored, and the applications,
/// registered and measured. What a user registered, and what was measured of it, goes to that user and to the site's
/// own scheduler, to nobody else: for any other caller the directory answers as if the first had never come, in the
/// same words. That is why applications go by their owner and name, and no number of a sequence.
///
/// A value: the owner of a store saves `records()` and `capacity`, and makes it anew from them.
class Directory {
  public:
    static constexpr std::size_t kRuns = 32;            ///< kept of an application
    static constexpr std::size_t kReadings = 4096;      ///< kept of the monitor
    static constexpr std::size_t kApplications = 1000;  ///< of a user
    static constexpr std::size_t kNameLength = 128;     ///< bytes

    /// Error kInvalidArgument: no processors, or something below 0.
    static Result<Directory> make(const SiteCapacity& capacity);

    /// Takes a reading. Errors, kInvalidArgument: older than the last, or out of range.
    Result<void> observe(const SiteReading& reading);
    /// What anybody may ask. `period` > 0 before the last reading. O(readings).
    SiteStatistics statistics(Duration period) const;

    /// Registers an application or replaces what was registered under this name; what was measured stays. Errors:
    /// kInvalidArgument, naming the field; kTooLarge, more than kApplications of this user.
    Result<void> register_application(const DirectoryUser& owner, const ApplicationRegistration& registration);
    /// Error kNotFound: this caller has registered none of this name, whatever others have.
    Result<void> withdraw(const DirectoryUser& caller, const std::string& name);
    Result<ApplicationRecord> find(const DirectoryUser& caller, const std::string& name) const;
    std::vector<std::string> names(const DirectoryUser& caller) const;

    /// For the site's scheduler: adds a run to the owner's application. Errors: kNotFound, kInvalidArgument.
    Result<void> record(const DirectoryUser& owner, const std::string& name, const MeasuredRun& run);
    /// What the scheduler plans with: the registration, its walltime the longest measured run where that is longer.
    /// Error kNotFound as `find`.
    Result<Job> job_of(const DirectoryUser& caller, const std::string& name) const;

    const std::map<std::pair<DirectoryUser, std::string>, ApplicationRecord>& records() const { return records_; }

  private:
    explicit Directory(const SiteCapacity& capacity) : capacity_(capacity) {}

    SiteCapacity capacity_;
    std::deque<SiteReading> readings_;
    std::map<std::pair<DirectoryUser, std::string>, ApplicationRecord> records_;
};

}  // namespace zbs
