#pragma once
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::process {

/// A control group that this service may divide among its steps: delegated to it by its service manager (v2), or named
/// by its operator. One of v1 (of the processor controller) has weights and no freezer.
class ControlGroup {
  public:
    /// `folder`: absolute, of a file system of control groups. Errors: kUnavailable where no group can be made in it or
    /// frozen; for v1: or weighed.
    static Result<std::unique_ptr<ControlGroup>> open(const std::string& folder);
    /// Whether `open` could take `folder`, as far as a check without changes shows. Makes nothing. Errors:
    /// kUnavailable.
    static Result<void> check(const std::string& folder);
    /// The group that this process is in, where it may make others in it; else nothing: an empty text.
    static std::string find_delegated();
    /// The group that the starter of steps divides, a process of that number: what its service manager delegated to it.
    static std::string find_delegated_to(pid_t starter);
    /// Moves this process from the group that was delegated to it into one of its own in that, called `name`: a group
    /// that gives its controllers to others may hold no process itself. False where there is no such group.
    static bool make_room(const std::string& name);

    bool has_weights() const { return has_weights_; }
    bool has_freezer() const { return !is_v1_; }
    /// Moves a process into the step's own group, made where it is missing. False where that cannot be done.
    bool take(const StepId& step_id, const ProcessRef& process);
    bool holds(const StepId& step_id, const ProcessRef& process) const;
    /// Returns when the kernel says that all of the group stand still, or 100 ms have passed: kTimeout. Precondition:
    /// it has a freezer.
    Result<void> freeze(const StepId& step_id, bool frozen);
    /// 1..10000, 100 as without. Precondition: it has weights.
    Result<void> set_weight(const StepId& step_id, int weight);
    /// Removes the step's group, once it is empty.
    void remove(const StepId& step_id);

  private:
    explicit ControlGroup(std::string folder) : folder_(std::move(folder)) {}
    std::string of(const StepId& step_id) const { return folder_ + "/step-" + step_id; }
    std::string folder_;
    bool has_weights_ = false;
    bool is_v1_ = false;
};

}  // namespace zbs::process
