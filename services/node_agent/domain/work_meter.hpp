#pragma once
#include <optional>

#include "algorithms/gang/classifier.hpp"
#include "services/common/messages/node.hpp"

namespace zbs {

/// Classifies the work of a step by what it uses, with the Bayesian fuzzy classifier of Concurrent Gang [DaSilva2000,
/// section 8.1] with a floor, so that within five probes any phase is forgotten.
///
/// The source counts calls within the kernel. Seen from outside: I/O is what moves 256 KiB a second and more to or from
/// disks; a communication is when a process lets go of its processor by itself, but for suspensions and one time with
/// each 64 KiB of I/O. Twice in 200 ms, as in the source's experiments, speaks for communication. Ranks that wait
/// without letting go (busy waiting, as MPI does within a host) look like computation.
class WorkMeter {
  public:
    /// The next look, at a steady time; `suspension_switches` as `ProcessControl` says. The first one only begins; one
    /// in which the step did nothing says nothing.
    void observe(const StepUsage& usage, std::uint64_t suspension_switches, Duration now);
    /// None before anything was seen.
    std::optional<StepWork> work() const;
    /// Of the local scheduler [DaSilva2000, eq. 8.4]: where several could fill an idle slot, the largest does.
    double priority() const { return gang::priority_v2(belief_.f); }

  private:
    struct Look {
        StepUsage usage;
        std::uint64_t suspension_switches = 0;
        Duration at{};
    };
    std::optional<Look> last_{};
    gang::BayesianState belief_;
    bool has_seen_ = false;
};

}  // namespace zbs
