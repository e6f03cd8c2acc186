#include "algorithms/base/instant_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "algorithms/base/expects.hpp"

namespace zbs {
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
    /// What stands behind a point, as part of a second.
    Duration fraction() {
        Duration sum{0};
        std::int64_t digit_us = 100'000;
        while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
            sum += Duration{(rest_.front() - '0') * digit_us};
            digit_us /= 10;
            rest_.remove_prefix(1);
        }
        return sum;
    }

  private:
    std::string_view rest_;
};

std::optional<Duration> read_time_of_day(Reader& in) {
    const auto hour = in.number(2, 0, 23);
    const auto minute = hour && in.takes(':') ? in.number(2, 0, 59) : std::nullopt;
    if (!minute) return std::nullopt;
    Duration of_day = std::chrono::hours{*hour} + std::chrono::minutes{*minute};
    if (!in.takes(':')) return of_day;
    const auto second = in.number(2, 0, 60);
    if (!second) return std::nullopt;
    of_day += std::chrono::seconds{*second};
    return in.takes('.') ? of_day + in.fraction() : of_day;
}

std::optional<std::chrono::minutes> read_offset(Reader& in) {
    if (in.takes('Z') || in.takes('z')) return std::chrono::minutes{0};
    const bool is_west = in.takes('-');
    if (!is_west && !in.takes('+')) return std::nullopt;
    const auto hours = in.number(2, 0, 23);
    const auto minutes = hours && in.takes(':') ? in.number(2, 0, 59) : std::nullopt;
    if (!minutes) return std::nullopt;
    const std::chrono::minutes off{*hours * 60 + *minutes};
    return is_west ? -off : off;
}

}  // namespace

std::optional<WrittenTime> parse_written_time(std::string_view text) {
    Reader in(text);
    const auto year = in.number(4, 1970, 9999);
    const auto month = year && in.takes('-') ? in.number(2, 1, 12) : std::nullopt;
    const auto day = month && in.takes('-') ? in.number(2, 1, 31) : std::nullopt;
    if (!day) return std::nullopt;
    WrittenTime written{.date = {std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                 std::chrono::day{static_cast<unsigned>(*day)}}};
    if (!written.date.ok()) return std::nullopt;
    if (in.takes('T') || in.takes('t') || in.takes(' ')) {
        written.of_day = read_time_of_day(in);
        if (!written.of_day) return std::nullopt;
    }
    if (in.is_done()) return written;
    if (!written.of_day) return std::nullopt;
    written.east = read_offset(in);
    return written.east && in.is_done() ? std::optional(written) : std::nullopt;
}

std::optional<Time> parse_instant(std::string_view text) {
    const std::optional<WrittenTime> written = parse_written_time(text);
    if (!written || !written->of_day || !written->east) return std::nullopt;
    return Time{std::chrono::sys_days{written->date}.time_since_epoch() + *written->of_day - *written->east};
}

std::string format_instant(Time time) {
    const std::chrono::sys_time<Duration> utc{time.time_since_epoch()};
    const auto day = std::chrono::floor<std::chrono::days>(utc);
    const std::chrono::year_month_day date{day};
    const int year = static_cast<int>(date.year());
    ZBS_EXPECTS(year >= 1970 && year <= 9999);
    const std::chrono::hh_mm_ss of_day{utc - day};
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", year,
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(of_day.hours().count()), static_cast<int>(of_day.minutes().count()),
                  static_cast<int>(of_day.seconds().count()), static_cast<int>(of_day.subseconds().count()));
    return buffer.data();
}

}  // namespace zbs
