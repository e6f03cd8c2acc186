#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "services/common/ports/steps/step_runner.hpp"

namespace zbs::process {

/// All of a specification as a text that this host reads again.
std::string encode_waiting(const StepSpec& spec);
/// Nothing where `text` was not made by `encode_waiting`.
std::optional<StepSpec> decode_waiting(std::string_view text);

/// Keeps a step that waits for its inputs in `control`, the supervisor's folder of it, over restarts of the service,
/// and its inputs by links where the file system has them: who makes room meanwhile takes other names of them only.
/// Then their paths in `spec` are those of the links. Errors: kUnavailable, nothing kept.
Result<void> keep_waiting(const std::string& control, StepSpec& spec);
/// What is kept there; nothing where no step waits, or what is there cannot be read.
std::optional<StepSpec> find_waiting(const std::string& control);
/// Once the step is launched, or never will be.
void forget_waiting(const std::string& control);

}  // namespace zbs::process
