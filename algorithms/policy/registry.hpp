#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// An option of a policy as its users see it.
struct PolicyOption {
    enum class Kind : std::uint8_t {
        kInteger,  ///< or "unlimited" where the range is open
        kNumber,
        kDuration,   ///< seconds, or with a unit: 90s, 15m, 1h30m, 2d
        kDurations,  ///< durations, separated by commas or +
        kNumbers,
        kChoice,  ///< one of `choices`
        kFlag,    ///< true or false
    };
    std::string_view name;
    Kind kind;
    std::string_view default_value;
    std::string_view meaning;  ///< one sentence, with the accepted range
    std::span<const std::string_view> choices = {};
    double least = 0, most = 0;  ///< of integers and numbers
};

/// A policy as its users see it.
struct PolicyInfo {
    std::string_view name;
    std::string_view summary;     ///< one sentence
    std::string_view starvation;  ///< what keeps jobs from waiting for ever, or that nothing does
    std::span<const PolicyOption> options;
    bool takes_turns = false;  ///< jobs share processors in time slices
};

/// All policies, by name.
std::span<const PolicyInfo> policies();
/// The policy of this name, or nullptr.
const PolicyInfo* find_policy(std::string_view name);

/// Options as they come from a command line or a configuration: name and value.
using PolicyOptions = std::vector<std::pair<std::string, std::string>>;

/// The policy `name` with `options`. Errors, kInvalidArgument, each with the nearest word that exists: no such policy,
/// no such option, an option given twice, a value out of its range.
Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyOptions& options = {});

}  // namespace zbs
