#pragma once
#include "services/common/ports/steps/step_files.hpp"
#include "services/common/ports/steps/step_runner.hpp"

namespace zbs {

/// Steps and all their files.
class Executor : public StepRunner, public StepFiles, public MachineFiles {};

}  // namespace zbs
