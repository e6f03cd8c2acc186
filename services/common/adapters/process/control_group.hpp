#pragma once
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::process {

/// A control group (v2) that this service may divide among its steps: delegated to it by its service manager, or named
/// by its operator.
class ControlGroup {
  public:
    /// `folder`: absolute, of the cgroup2 file system. Errors: kUnavailable where no group can be made in it or frozen.
    static Result<std::unique_ptr<ControlGroup>> open(const std::string& folder);
    /// The group that this process is in, where it may make others in it; else nothing: an empty text.
    static std::string find_delegated();

    bool has_weights() const { return has_weights_; }
    /// Moves a process into the step's own group, made where it is missing. False where that cannot be done.
    bool take(const std::string& operation, const ProcessRef& process);
    bool holds(const std::string& operation, const ProcessRef& process) const;
    /// Returns when the kernel says that all of the group stand still, or 100 ms have passed: kTimeout.
    Result<void> freeze(const std::string& operation, bool frozen);
    Result<void> set_weight(const std::string& operation, int weight);
    /// Removes the step's group, once it is empty.
    void remove(const std::string& operation);

  private:
    explicit ControlGroup(std::string folder) : folder_(std::move(folder)) {}
    std::string of(const std::string& operation) const { return folder_ + "/step-" + operation; }
    std::string folder_;
    bool has_weights_ = false;
};

}  // namespace zbs::process
