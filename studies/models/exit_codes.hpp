#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/model/job.hpp"

namespace zbs::elmer {

/// Identifies by the exit status of a child process which job has ended: status = 100 + slot, where the slot of job J
/// is J mod N, N prime [Turner1995, section 6.3]. Where a job that runs has that slot, ours takes the next free one, so
/// that N jobs can run at once whatever their numbers.
class ExitCodes {
  public:
    static constexpr std::int32_t kFirst = 100;
    /// The largest prime with 100 + N - 1 in the 8 bits of a status.
    static constexpr std::int32_t kMaxSlots = 151;

    /// Whether there can be so many slots: a prime <= kMaxSlots.
    static bool serves(std::int32_t slots);
    /// Precondition: serves(slots).
    explicit ExitCodes(std::int32_t slots = kMaxSlots);

    bool full() const { return used_ == slots_.size(); }
    /// The status with which the child of `job` has to end. Precondition: not full, the job has none yet.
    std::int32_t assign(JobId job);
    /// The job that this status identifies; the status is free from then on. nullopt: a helper's status, or nobody's.
    std::optional<JobId> take(std::int32_t status);
    /// The status assigned to the job.
    std::optional<std::int32_t> status_of(JobId job) const;

  private:
    std::vector<JobId> slots_;
    std::size_t used_ = 0;
};

}  // namespace zbs::elmer
