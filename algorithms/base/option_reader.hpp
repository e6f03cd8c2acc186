#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// An option of a policy, an allocator or another choice that users make by name.
struct Option {
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
    double least = 0, most = 0;  ///< of integers and numbers; most at least 9e18: open
};

// One option each, for tables of them.
struct OptionRange {
    double least, most;
};
constexpr Option integer_option(std::string_view name, std::string_view value, OptionRange in, std::string_view says) {
    return {name, Option::Kind::kInteger, value, says, {}, in.least, in.most};
}
constexpr Option number_option(std::string_view name, std::string_view value, OptionRange in, std::string_view says) {
    return {name, Option::Kind::kNumber, value, says, {}, in.least, in.most};
}
constexpr Option numbers_option(std::string_view name, std::string_view value, OptionRange in, std::string_view says) {
    return {name, Option::Kind::kNumbers, value, says, {}, in.least, in.most};
}
constexpr Option choice_option(std::string_view name, std::string_view value, std::span<const std::string_view> choices,
                               std::string_view says) {
    return {name, Option::Kind::kChoice, value, says, choices};
}
constexpr Option flag_option(std::string_view name, std::string_view value, std::string_view says) {
    return {name, Option::Kind::kFlag, value, says};
}
constexpr Option duration_option(std::string_view name, std::string_view value, std::string_view says) {
    return {name, Option::Kind::kDuration, value, says};
}
constexpr Option durations_option(std::string_view name, std::string_view value, std::string_view says) {
    return {name, Option::Kind::kDurations, value, says};
}

/// Options as they come from a command line or a configuration: name and value.
using OptionValues = std::vector<std::pair<std::string, std::string>>;

/// Takes the options of one owner apart: unknown names, doubles and values out of range become the first fault; all
/// else falls back to the defaults of the table.
class OptionReader {
  public:
    /// `owner` as messages call it: "policy easy". All arguments must outlive the reader.
    OptionReader(std::string owner, std::span<const Option> table, const OptionValues& given);

    bool given(std::string_view name) const;      ///< rather than left to its default
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
    const Option& option(std::string_view name) const;
    std::string text(std::string_view name) const;

    std::string owner_;
    std::span<const Option> table_;
    const OptionValues& given_;
    bool failed_ = false;
    Error fault_;
};

}  // namespace zbs
