#pragma once
#include <memory>

#include "client/cli/simulation/simulate_input.hpp"

namespace zbs::cli {

/// Jobs that are read while they are simulated: memory does not hold the workload.
class WorkloadStream {
  public:
    /// Reads up to the first job. Errors, as in `run` and `finish`: the workload has to be loaded as a whole, by
    /// `load_workload`, because of its source, changes of its jobs or a fault that is reported there.
    static Result<std::unique_ptr<WorkloadStream>> open(const WorkloadSource& source);
    virtual ~WorkloadStream() = default;

    /// With processors and without jobs.
    virtual const LoadedWorkload& found() const = 0;
    /// How many jobs there are in all, by what was read so far.
    virtual std::size_t expected_jobs() const = 0;
    virtual Result<void> run(const AddJob& add) = 0;
    /// After `run`: what `load_workload` finds, but for jobs and records.
    virtual Result<LoadedWorkload> finish() = 0;
};

}  // namespace zbs::cli
