#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "algorithms/base/option_reader.hpp"
#include "algorithms/base/result.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

using PolicyOption = Option;
using PolicyOptions = OptionValues;

/// A policy as its users see it.
struct PolicyInfo {
    std::string_view name;
    std::string_view summary;     ///< one sentence
    std::string_view source;      ///< key in REFERENCES.md, and place; "-" where it is common knowledge
    std::string_view starvation;  ///< what keeps jobs from waiting for ever, or that nothing does
    std::span<const PolicyOption> options;
    bool takes_turns = false;  ///< jobs share processors in time slices
    bool takes_slice = false;  ///< the length of its slices, and the memory of a processor, are those of the machine
};

/// All policies, by name.
std::span<const PolicyInfo> policies();
/// The policy of this name, or nullptr.
const PolicyInfo* find_policy(std::string_view name);

/// The policy `name` with `options`. Errors, kInvalidArgument, each with the nearest word that exists: no such policy,
/// no such option, an option given twice, a value out of its range.
Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyOptions& options = {});

}  // namespace zbs
