#include "services/common/adapters/command_line/since.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>

#include "algorithms/base/duration_text.hpp"
#include "algorithms/base/instant_text.hpp"
#include "services/common/listing/rows.hpp"

namespace zbs::command_line {
namespace {

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

}  // namespace

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

}  // namespace zbs::command_line
