#include "services/common/adapters/command_line/values.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <sstream>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/instant_text.hpp"
#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/listing/rows.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/names/join_token.hpp"

namespace zbs::command_line {
namespace {

std::string in_quotes(const std::string& text) { return "'" + listing::harmless_line(text) + "'"; }

bool is_decimal(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    const bool has_leading_zero = text.size() > 1 && text.front() == '0';
    return !text.empty() && !has_leading_zero && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// None of its elements is empty.
CLI::Validator comma_list() {
    return {[](const std::string& text) -> std::string {
                const std::vector<std::string_view> elements = split(text, ',');
                const auto empty = std::ranges::find_if(elements, [](std::string_view element) {
                    return element.find_first_not_of(' ') == std::string_view::npos;
                });
                if (empty == elements.end()) return {};
                if (elements.size() == 1) return "it is empty; give a value, or leave the option out";
                return "element " + std::to_string(empty - elements.begin() + 1) + " of " + in_quotes(text) +
                       " is empty; write one comma between two values";
            },
            ""};
}

template <class Number>
CLI::Validator in_range(Number least, Number most, const std::string& kind) {
    std::ostringstream limits, type;
    limits << least << " to " << most;
    type << CLI::detail::type_name<Number>() << " in [" << least << " - " << most << "]";
    return {[=, range = limits.str()](const std::string& text) -> std::string {
                Number value{};
                if (!CLI::detail::lexical_cast(text, value))
                    return in_quotes(text) + " is not a " + kind + "; give " + range;
                // CLI11 reads 010 as 8 and 0x10 as 16; no batch system does.
                if (std::is_integral_v<Number> && !is_decimal(text))
                    return in_quotes(text) + " is not a decimal number, or begins with 0; give " + range;
                if (value >= least && value <= most) return {};
                return listing::harmless_line(text) + " is out of range; give " + range;
            },
            type.str()};
}

/// Without an offset it is on this machine's clock.
std::optional<Time> read_instant(std::string_view text) {
    const std::optional<WrittenTime> written = parse_written_time(text);
    if (!written || written->east) return parse_instant(text);
    const std::chrono::hh_mm_ss of_day{written->of_day.value_or(Duration{0})};
    std::tm parts{};
    parts.tm_year = static_cast<int>(written->date.year()) - 1900;
    parts.tm_mon = static_cast<int>(static_cast<unsigned>(written->date.month())) - 1;
    parts.tm_mday = static_cast<int>(static_cast<unsigned>(written->date.day()));
    parts.tm_hour = static_cast<int>(of_day.hours().count());
    parts.tm_min = static_cast<int>(of_day.minutes().count());
    parts.tm_sec = static_cast<int>(of_day.seconds().count());
    parts.tm_isdst = -1;
    return Time{std::chrono::seconds{mktime(&parts)} + of_day.subseconds()};
}

/// An option has no place of its own for this. A check that is not active checks nothing, and is not shown.
constexpr const char* kCarrier = "offers";

}  // namespace

CLI::Validator whole_number_in(std::int64_t least, std::int64_t most) { return in_range(least, most, "whole number"); }

CLI::Validator natural_number() {
    return {[](const std::string& text) -> std::string {
                if (is_decimal(text) && parse_number<std::uint64_t>(text)) return {};
                return in_quotes(text) + " is not a decimal number from 0 to 18446744073709551615";
            },
            ""};
}

CLI::Validator number_in(double least, double most) { return in_range(least, most, "number"); }

CLI::Validator one_of(const std::vector<std::string>& words) {
    std::string type;  // as CLI11 writes a set
    for (const std::string& word : words) type += (type.empty() ? "{" : ",") + word;
    return {[words](const std::string& text) -> std::string {
                if (std::ranges::find(words, text) != words.end()) return {};
                const std::vector<std::string_view> names(words.begin(), words.end());
                return "there is no " + in_quotes(text) + did_you_mean(text, names);
            },
            type + "}"};
}

CLI::Validator something(const std::string& remedy) {
    return {[remedy](const std::string& text) { return text.empty() ? "it is empty; " + remedy : std::string{}; }, ""};
}

CLI::Validator span_of_time(std::chrono::seconds least, std::chrono::seconds most) {
    return {[least, most](const std::string& text) -> std::string {
                if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos)
                    return in_quotes(text) + " has no unit: " + text + "m for minutes (as sbatch reads it), " + text +
                           "s for seconds";
                const Result<Duration> read = parse_duration(text);
                if (read && *read < least) return "must be at least " + format_duration(least);
                if (read && *read > most) return "must be at most " + format_duration(most);
                return read ? std::string{} : listing::harmless_line(read.error().message);
            },
            ""};
}

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                      const std::string& text) {
    const auto divide = [&into](const std::vector<std::string>& lists) {
        into.clear();
        for (const std::string& list : lists)
            for (const std::string_view element : split(list, ',')) into.emplace_back(element);
    };
    return command.add_option_function<std::vector<std::string>>(name, divide, text)
        ->check(comma_list())
        ->allow_extra_args(false);
}

CLI::Validator name_of(const std::string& what) {
    return {[what](const std::string& text) -> std::string {
                if (is_valid_name(text)) return {};
                return in_quotes(text) + " is no name of " + what +
                       ": 1 to 64 of a-z 0-9 . _ -, first a letter or digit";
            },
            ""};
}

CLI::Validator fingerprint() {
    return {[](const std::string& text) -> std::string {
                if (text.empty() || is_fingerprint(text)) return {};
                return in_quotes(text) + " is no fingerprint; write sha256: and 64 digits of 0-9 a-f, all of them";
            },
            ""};
}

CLI::Validator existing_file() {
    return {[](const std::string& path) -> std::string {
                std::error_code ignored;
                const auto status = std::filesystem::status(path, ignored);
                if (std::filesystem::is_directory(status)) return in_quotes(path) + " is a folder; give a file";
                if (!std::filesystem::exists(status)) return "there is no file " + in_quotes(path);
                return {};
            },
            "FILE"};
}

CLI::Validator amount_of_bytes() {
    return {[as_bytes = CLI::AsSizeValue(false)](std::string& text) -> std::string {
                const std::string said = text;
                try {
                    if (as_bytes(text).empty()) return {};
                } catch (const CLI::ValidationError&) {
                }
                return in_quotes(said) +
                       " is no amount of bytes; write the bytes, or a number with its unit: 512MB, 2GiB";
            },
            "SIZE [b, kb(=1024b), ...]"};
}

Result<Time> parse_since(std::string_view text, Time now) {
    if (const std::optional<Time> instant = read_instant(text)) return *instant;
    const std::string back(text.substr(text.starts_with('-') ? 1 : 0));
    if (!back.empty() && back.find_first_not_of("0123456789") == std::string::npos)
        return invalid("'" + std::string(text) + "' has no unit: " + back + "m for minutes, " + back + "s for seconds",
                       "--since");
    const Result<Duration> ago = parse_duration(back);
    if (ago) return now - *ago;
    return invalid("'" + listing::harmless_line(text) +
                       "' is no time; write how long ago (6h, 2d), a day (2026-11-24) or an instant "
                       "(2026-11-24T13:00:00Z)",
                   "--since");
}

bool counts_from_now(std::string_view text) { return !read_instant(text); }

void add_since_option(CLI::App& command, std::string& text) {
    const CLI::Validator known(
        [](std::string& word) {
            const Result<Time> since = parse_since(word, Time{});
            return since ? std::string{} : since.error().message;
        },
        "");
    command
        .add_option("--since", text,
                    "only from then on: how long ago (6h, -6h, 2d), a day on this machine's clock (2026-11-24), or an "
                    "instant (2026-11-24T13:00:00Z)")
        ->check(known);
}

void offer(CLI::Option* option, const Offers& offers) {
    std::string text = std::string(offers.is_list ? "list" : "one") + " " + (offers.is_file_too ? "file" : "word") +
                       " " + (offers.kind.empty() ? "-" : offers.kind);
    for (const std::string& word : offers.words) text += " " + word;
    CLI::Validator carrier([](std::string&) { return std::string{}; }, text, kCarrier);
    option->check(carrier.active(false));
}

Offers offers_of(const CLI::Option& option) {
    try {
        // get_validator is no const function, though it changes nothing.
        CLI::Validator carrier = *const_cast<CLI::Option&>(option).get_validator(kCarrier);
        std::istringstream text(carrier.active(true).get_description());
        std::string list, file;
        Offers offers;
        text >> list >> file >> offers.kind;
        offers.is_list = list == "list";
        offers.is_file_too = file == "file";
        if (offers.kind == "-") offers.kind.clear();
        for (std::string word; text >> word;) offers.words.push_back(word);
        return offers;
    } catch (const CLI::OptionNotFound&) {
        return {};
    }
}

}  // namespace zbs::command_line
