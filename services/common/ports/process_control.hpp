#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/node.hpp"

namespace zbs {

/// Suspends and resumes the process trees of steps. Safe from any thread. A step that is not there, or has nothing that
/// lives: success, and nothing is done.
class StepSuspension {
  public:
    virtual ~StepSuspension() = default;

    /// When it returns, nothing of the tree runs, and nothing will before `resume`: what is forked meanwhile is stopped
    /// too. Errors: kTimeout where a process cannot be stopped soon (it waits for a disk that does not answer).
    virtual Result<void> suspend(const StepId& step_id) = 0;
    virtual Result<void> resume(const StepId& step_id) = 0;
    /// kBlocked where nothing lives. Cheaper than `usage`.
    virtual StepActivity activity(const StepId& step_id) = 0;
};

/// What is done to the process trees of steps beside starting and ending them, as of `StepSuspension`.
class ProcessControl : public StepSuspension {
  public:
    /// All steps that have a folder on this host, running or not, by name: how an agent finds what it had started.
    virtual std::vector<StepId> step_ids() = 0;

    /// Nice level of every thread, -20..19; what they start later inherits it, but for sessions that begin later, where
    /// the kernel shares by sessions: so it is to be set again and again. Errors: kDenied (a level below the
    /// present one needs rights; threads that could be set are), kInvalidArgument.
    virtual Result<void> set_nice(const StepId& step_id, int nice) = 0;
    /// The smallest nice level of its threads. Errors: kNotFound where nothing of it lives.
    virtual Result<int> nice(const StepId& step_id) = 0;
    /// Whether `set_weight` has control groups.
    virtual bool has_weights() const = 0;
    /// Share of the processors against other steps of this host, 1..10000, 100 = as without: by a control group where
    /// there is one, else by the nice level nearest to it. Errors: as `set_nice`.
    virtual Result<void> set_weight(const StepId& step_id, int weight) = 0;

    /// Errors: kNotFound where nothing of it lives.
    virtual Result<StepUsage> usage(const StepId& step_id) = 0;
    /// Of the voluntary switches that `usage` reports: how many were this agent's suspensions, at most.
    virtual std::uint64_t suspension_switches(const StepId& step_id) = 0;

    /// The step has ended: what was kept for it (a control group, counters) goes.
    virtual void forget(const StepId& step_id) = 0;
};

}  // namespace zbs
