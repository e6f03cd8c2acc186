#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/job.hpp"

namespace zbs {

/// A job of a workload to be replayed: what its user asked for, and how long it really runs on a machine of its own.
struct WorkloadJob {
    Job job;
    /// > 0; beyond job.walltime where a job is not killed there. Known to the simulator, never to a policy.
    Duration runtime{};

    bool operator==(const WorkloadJob&) const = default;
};

/// Jobs in the order of (submit, id), ids distinct. Times count from the trace's own origin.
struct Workload {
    std::string name;             ///< for reports
    std::int32_t processors = 0;  ///< of the machine the workload was recorded on or made for; 0: not known
    std::vector<WorkloadJob> jobs;

    bool operator==(const Workload&) const = default;
};

/// Receives a job; an error ends the stream.
using AddJob = std::function<Result<void>(const WorkloadJob&)>;
/// Jobs in the order of (submit, id) that are not in memory at once: calls its argument with one after the other, and
/// returns the first error.
using JobStream = std::function<Result<void>(const AddJob&)>;

}  // namespace zbs
