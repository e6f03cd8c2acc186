#pragma once
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/policy/registry.hpp"

namespace zbs {

/// Takes the options of one policy apart: unknown names, doubles and values out of range become the first fault, which
/// `finish` reports; all else falls back to the defaults of the table.
class OptionReader {
  public:
    OptionReader(const PolicyInfo& policy, const PolicyOptions& given);

    /// Whether the option is given, not left to its default.
    bool given(std::string_view name) const;
    std::int64_t integer(std::string_view name);  ///< std::numeric_limits<std::int64_t>::max() for "unlimited"
    double number(std::string_view name);
    bool flag(std::string_view name);
    Duration duration(std::string_view name);
    std::vector<Duration> durations(std::string_view name);
    std::vector<double> numbers(std::string_view name);
    /// Index among the option's choices.
    std::size_t choice(std::string_view name);

    /// The first fault; to be asked before the values are used.
    const Error* fault() const { return failed_ ? &fault_ : nullptr; }
    /// Makes `message` about option `name` the fault, if there is none yet.
    void fail(std::string_view name, const std::string& message);

  private:
    const PolicyOption& option(std::string_view name) const;
    std::string text(std::string_view name) const;

    const PolicyInfo& policy_;
    const PolicyOptions& given_;
    bool failed_ = false;
    Error fault_;
};

}  // namespace zbs
