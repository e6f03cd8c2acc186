#include "algorithms/base/option_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/expects.hpp"
#include "algorithms/base/suggestion.hpp"

namespace zbs {
namespace {

/// Of a list; '+' stands for a comma where commas separate something else.
std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (;;) {
        const std::size_t comma = text.find_first_of(",+", begin);
        parts.push_back(text.substr(begin, comma - begin));
        if (comma == std::string::npos) return parts;
        begin = comma + 1;
    }
}

bool parse_number(const std::string& text, double& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

}  // namespace

OptionReader::OptionReader(std::string owner, std::span<const Option> table, const OptionValues& given)
    : owner_(std::move(owner)), table_(table), given_(given) {
    std::vector<std::string_view> known;
    for (const Option& option : table) known.push_back(option.name);
    for (std::size_t i = 0; i < given.size() && !failed_; ++i) {
        const std::string& name = given[i].first;
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            failed_ = true;
            fault_ = invalid(owner_ + " has no option '" + name + "'" +
                             (known.empty() ? std::string("; it has none") : did_you_mean(name, known)));
        }
        for (std::size_t j = 0; j < i && !failed_; ++j)
            if (given[j].first == name) fail(name, "is given twice; keep one");
    }
}

void OptionReader::fail(std::string_view name, const std::string& message) {
    if (failed_) return;
    failed_ = true;
    fault_ = invalid("option " + std::string(name) + " of " + owner_ + " " + message);
}

const Option& OptionReader::option(std::string_view name) const {
    for (const Option& option : table_)
        if (option.name == name) return option;
    ZBS_EXPECTS(!"an option that the table lacks");
    return table_.front();
}

bool OptionReader::given(std::string_view name) const {
    return std::ranges::any_of(given_, [name](const auto& option) { return option.first == name; });
}

std::string OptionReader::text(std::string_view name) const {
    for (const auto& [given_name, value] : given_)
        if (given_name == name) return value;
    return std::string(option(name).default_value);
}

std::int64_t OptionReader::integer(std::string_view name) {
    const Option& wanted = option(name);
    const std::string value = text(name);
    const bool open = wanted.most >= 9e18;
    if (open && value == "unlimited") return std::numeric_limits<std::int64_t>::max();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || static_cast<double>(number) < wanted.least ||
        static_cast<double>(number) > wanted.most)
        fail(name, "is '" + value + "'; write " + std::string(wanted.meaning));
    return number;
}

double OptionReader::number(std::string_view name) {
    const Option& wanted = option(name);
    const std::string value = text(name);
    double number = 0;
    if (!parse_number(value, number) || number < wanted.least || number > wanted.most)
        fail(name, "is '" + value + "'; write " + std::string(wanted.meaning));
    return number;
}

bool OptionReader::flag(std::string_view name) {
    const std::string value = text(name);
    if (value == "true" || value == "yes" || value == "1") return true;
    if (value != "false" && value != "no" && value != "0") fail(name, "is '" + value + "'; write true or false");
    return false;
}

Duration OptionReader::duration(std::string_view name) {
    const Result<Duration> value = parse_duration(text(name));
    if (value) return *value;
    fail(name, "cannot be read: " + value.error().message);
    return {};
}

std::vector<Duration> OptionReader::durations(std::string_view name) {
    std::vector<Duration> values;
    for (const std::string& part : parts_of(text(name))) {
        const Result<Duration> value = parse_duration(part);
        if (!value) {
            fail(name, "cannot be read: " + value.error().message);
            return {};
        }
        values.push_back(*value);
    }
    return values;
}

std::vector<double> OptionReader::numbers(std::string_view name) {
    const Option& wanted = option(name);
    std::vector<double> values;
    for (const std::string& part : parts_of(text(name))) {
        double number = 0;
        if (!parse_number(part, number) || number < wanted.least || number > wanted.most) {
            fail(name, "holds '" + part + "'; write " + std::string(wanted.meaning));
            return {};
        }
        values.push_back(number);
    }
    return values;
}

std::size_t OptionReader::choice(std::string_view name) {
    const Option& wanted = option(name);
    const std::string value = text(name);
    for (std::size_t i = 0; i < wanted.choices.size(); ++i)
        if (wanted.choices[i] == value) return i;
    fail(name, "is '" + value + "'" + did_you_mean(value, wanted.choices));
    return 0;
}

}  // namespace zbs
