#include "algorithms/base/duration_text.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "algorithms/base/text.hpp"

namespace zbs {
namespace {

/// The number that begins at `at`, which moves behind it; false where there is none. No signs, no exponents.
bool take_number(const char*& at, const char* end, double& value) {
    if (at == end || *at < '0' || *at > '9') return false;
    const auto [stop, error] = std::from_chars(at, end, value, std::chars_format::fixed);
    at = stop;
    return error == std::errc{};
}

struct NamedUnit {
    std::string_view name;
    double seconds;
};

/// Longer names before those that they begin with.
constexpr NamedUnit kWordUnits[] = {
    {"ms", 1e-3},    {"us", 1e-6},    {"weeks", 604'800}, {"week", 604'800}, {"w", 604'800}, {"days", 86'400},
    {"day", 86'400}, {"d", 86'400},   {"hours", 3'600},   {"hour", 3'600},   {"hrs", 3'600}, {"hr", 3'600},
    {"h", 3'600},    {"minutes", 60}, {"minute", 60},     {"mins", 60},      {"min", 60},    {"m", 60},
    {"seconds", 1},  {"second", 1},   {"secs", 1},        {"sec", 1},        {"s", 1}};

/// The unit that begins at `at`, which moves behind it; -1 where there is none.
double take_unit(const char*& at, const char* end) {
    for (const NamedUnit& unit : kWordUnits) {
        if (!std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(unit.name)) continue;
        at += unit.name.size();
        return unit.seconds;
    }
    return -1;
}

/// "1h30m", "1 h 30 min", "90"; -1 where it is none.
double words_of(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto skip_blank = [&] {
        if (at != end && *at == ' ') ++at;
    };
    double total = 0;
    for (bool first = true; at != end; first = false) {
        double value = 0;
        if (!take_number(at, end, value)) return -1;
        if (first && at == end) return value;
        skip_blank();
        const double unit = take_unit(at, end);
        if (unit < 0) return -1;
        total += value * unit;
        if (at == end) break;
        skip_blank();
        if (at == end) return -1;
    }
    return total;
}

/// Numbers between colons, the first of `first_seconds`, each next of a sixtieth; -1 where it is none.
double clock_of(std::string_view text, int most_fields, double first_seconds) {
    const char* at = text.data();
    const char* const end = at + text.size();
    double total = 0, unit = first_seconds;
    for (int fields = 1;; ++fields, unit /= 60) {
        double value = 0;
        if (fields > most_fields || !take_number(at, end, value)) return -1;
        total += value * unit;
        if (at == end) return total;
        if (*at++ != ':') return -1;
    }
}

/// "1-12:00:00": days, then hours; -1 where it is none.
double days_of(std::string_view text, std::size_t dash) {
    const char* at = text.data();
    double days = 0;
    if (!take_number(at, text.data() + dash, days) || at != text.data() + dash) return -1;
    const double rest = clock_of(text.substr(dash + 1), 3, 3'600);
    return rest < 0 ? -1 : days * 86'400 + rest;
}

/// ISO 8601: P, then weeks and days, then T with hours, minutes, seconds, each at most once and in this order; -1 where
/// it is none.
double iso_of(std::string_view text) {
    constexpr struct {
        char letter;
        bool of_day;
        double seconds;
    } kUnits[] = {{'W', false, 604'800}, {'D', false, 86'400}, {'H', true, 3'600}, {'M', true, 60}, {'S', true, 1}};
    const char* at = text.data() + 1;
    const char* const end = text.data() + text.size();
    double total = 0;
    std::size_t next = 0;
    bool in_day = false;
    if (at == end) return -1;
    while (at != end) {
        if (*at == 'T' && !in_day) {
            in_day = true;
            if (++at == end) return -1;
        }
        double value = 0;
        if (!take_number(at, end, value) || at == end) return -1;
        while (next < 5 && (kUnits[next].letter != *at || kUnits[next].of_day != in_day)) ++next;
        if (next == 5) return -1;
        total += value * kUnits[next++].seconds;
        ++at;
    }
    return total;
}

double seconds_of(std::string_view text) {
    const std::size_t colons = static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
    if (text[0] == 'P') return iso_of(text);
    if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) return days_of(text, dash);
    if (colons > 0) return clock_of(text, 3, colons == 2 ? 3'600 : 60);
    return words_of(text);
}

}  // namespace

Result<Duration> parse_duration(const std::string& text) { return parse_duration_within(text, 366); }

Result<Duration> parse_duration_within(const std::string& text, int most_days) {
    const Error bad = invalid("'" + text +
                              "' is no duration; write 90s, 200ms, 15m, 1h30m, 2d, MM:SS, HH:MM:SS, D-HH:MM:SS or "
                              "PT1H30M");
    if (text.empty() || text.size() > 32) return bad;
    const double total = seconds_of(text);
    if (total < 0) return bad;
    if (!(total <= most_days * 86'400.0))
        return invalid("'" + text + "' is more than " + std::to_string(most_days) + " days");
    return seconds_to_duration(total);
}

std::string format_duration(Duration time) {
    constexpr std::int64_t kSecond = 1'000'000;
    const std::int64_t us = time.count();
    if (us < 10 * kSecond) return number_text(us % kSecond == 0 ? "%.0fs" : "%.2fs", to_seconds(time));
    struct Unit {
        std::int64_t seconds;
        const char* name;
    };
    constexpr Unit kUnits[] = {{86'400, "d"}, {3'600, "h"}, {60, "m"}, {1, "s"}};
    std::int64_t left = us / kSecond;
    std::string text;
    int printed = 0;
    for (const Unit& unit : kUnits) {
        const std::int64_t count = left / unit.seconds;
        left %= unit.seconds;
        if (count > 0 && printed < 2) text += std::to_string(count) + unit.name;
        printed += count > 0 || printed > 0;
    }
    return text;
}

}  // namespace zbs
