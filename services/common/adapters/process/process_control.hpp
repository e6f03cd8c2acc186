#pragma once
#include <memory>
#include <string>

#include "services/common/ports/process_control.hpp"

namespace zbs::process {

struct ProcessControlOptions {
    std::string folder;  ///< of the step executor
    /// Folder of a control group that may be divided, v2 or of the processor controller of v1; empty: none is used.
    std::string control_group;
};

class StepControl : public ProcessControl {
  public:
    /// How steps are suspended and shares given, as one line for the operator.
    virtual const std::string& means() const = 0;
};

/// ProcessControl over the steps of a step executor. With a control group a step is frozen, without one every process
/// gets SIGSTOP, again and again until none runs. Only its owner or root may do either to a step. Errors: kUnavailable
/// where the control group cannot be used.
Result<std::unique_ptr<StepControl>> make_process_control(ProcessControlOptions options);

/// The nice level whose share against level 0 is nearest to `weight` against 100: each level is a factor of 1.25.
int nice_of_weight(int weight);

}  // namespace zbs::process
