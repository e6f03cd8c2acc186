#include "services/common/adapters/command_line/since.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>

#include "algorithms/base/duration_text.hpp"
#include "services/common/listing/rows.hpp"

namespace zbs::command_line {
namespace {

/// Reads a text from its front.
class Reader {
  public:
    explicit Reader(std::string_view text) : rest_(text) {}
    bool is_done() const { return rest_.empty(); }
    bool takes(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    /// Exactly `digits` of them, from `min` to `max`; else nothing.
    std::optional<int> number(std::size_t digits, int min, int max) {
        int value = 0;
        const char* const end = rest_.data() + std::min(digits, rest_.size());
        const auto [stop, fault] = std::from_chars(rest_.data(), end, value);
        if (fault != std::errc{} || rest_.size() < digits || stop != end || value < min || value > max)
            return std::nullopt;
        rest_.remove_prefix(digits);
        return value;
    }
    void skip_digits() { rest_.remove_prefix(std::min(rest_.find_first_not_of("0123456789"), rest_.size())); }

  private:
    std::string_view rest_;
};

struct Zone {
    bool is_local = true;
    std::chrono::minutes east{0};
};

/// What stands behind the time of day; nothing where it is something else.
std::optional<Zone> read_zone(Reader& in) {
    if (in.is_done()) return Zone{};
    if (in.takes('Z') || in.takes('z')) return Zone{.is_local = false};
    const bool is_west = in.takes('-');
    if (!is_west && !in.takes('+')) return std::nullopt;
    const auto hours = in.number(2, 0, 23);
    const auto minutes = hours && in.takes(':') ? in.number(2, 0, 59) : std::nullopt;
    if (!minutes) return std::nullopt;
    const std::chrono::minutes off{*hours * 60 + *minutes};
    return Zone{.is_local = false, .east = is_west ? -off : off};
}

std::optional<Time> read_instant(std::string_view text) {
    Reader in(text);
    const auto year = in.number(4, 1970, 9999);
    const auto month = year && in.takes('-') ? in.number(2, 1, 12) : std::nullopt;
    const auto day = month && in.takes('-') ? in.number(2, 1, 31) : std::nullopt;
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return std::nullopt;
    int hour = 0, minute = 0, second = 0;
    if (!in.is_done()) {
        if (!in.takes('T') && !in.takes('t') && !in.takes(' ')) return std::nullopt;
        const auto h = in.number(2, 0, 23);
        const auto m = h && in.takes(':') ? in.number(2, 0, 59) : std::nullopt;
        if (!m) return std::nullopt;
        hour = *h;
        minute = *m;
        if (in.takes(':')) {
            const auto s = in.number(2, 0, 60);
            if (!s) return std::nullopt;
            second = *s;
            if (in.takes('.')) in.skip_digits();
        }
    }
    const std::optional<Zone> zone = read_zone(in);
    if (!zone || !in.is_done()) return std::nullopt;
    std::tm parts{};
    parts.tm_year = *year - 1900;
    parts.tm_mon = *month - 1;
    parts.tm_mday = *day;
    parts.tm_hour = hour;
    parts.tm_min = minute;
    parts.tm_sec = second;
    parts.tm_isdst = -1;
    const std::time_t seconds = zone->is_local ? mktime(&parts) : timegm(&parts);
    return Time{std::chrono::seconds{seconds} - zone->east};
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
