#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>

#include "algorithms/base/time.hpp"

namespace zbs {

/// The number of a job in one zone's queue (or in one workload trace), >= 0. Not the 128-bit id of an application.
struct JobId {
    std::int64_t value = -1;
    auto operator<=>(const JobId&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, JobId id) { return out << id.value; }

/// A rigid parallel job as its user asked for it: all that a queue policy may know of a job that has not run.
struct Job {
    JobId id;
    Time submit{};
    Duration walltime{};          ///< requested limit, > 0; the job is stopped when it has run that long
    std::int32_t processors = 1;  ///< >= 1; one task a processor
    std::int32_t priority = 0;    ///< larger goes first where a policy looks at it
    std::int32_t user = -1;       ///< -1: unknown, as in the next two
    std::int32_t group = -1;
    std::int32_t queue = -1;
    std::int64_t memory_bytes = 0;  ///< of every task; 0: unknown, taken as none

    bool operator==(const Job&) const = default;
};

}  // namespace zbs

template <>
struct std::hash<zbs::JobId> {
    std::size_t operator()(zbs::JobId id) const noexcept { return std::hash<std::int64_t>{}(id.value); }
};
