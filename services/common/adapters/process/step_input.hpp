#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zbs::process {

/// The input of a supervisor besides its command line. It must not come through the supervisor's own environment: a
/// variable like LD_PRELOAD is meant for the job, and the supervisor may be root.
struct StepInput {
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<std::pair<std::string, std::string>> files;
    bool operator==(const StepInput&) const = default;
};

/// Where a supervisor finds it.
inline constexpr int kStepInputDescriptor = 4;

/// What is wrong with the names in `input`; empty where nothing is.
std::string find_fault(const StepInput& input);
std::string encode(const StepInput& input);
/// Nothing where `text` was not made by `encode`.
std::optional<StepInput> decode_step_input(std::string_view text);

}  // namespace zbs::process
