#include "algorithms/base/duration_text.hpp"

#include <cstdio>

#include <charconv>
#include <string_view>

namespace zbs {
namespace {

/// The number that begins at `at`, which moves behind it; false where there is none. No signs, no exponents.
bool take_number(const char*& at, const char* end, double& value) {
    if (at == end || *at < '0' || *at > '9') return false;
    const auto [stop, error] = std::from_chars(at, end, value, std::chars_format::fixed);
    at = stop;
    return error == std::errc{};
}

/// The unit that begins at `at`, which moves behind it; -1 where there is none.
double take_unit(const char*& at, const char* end) {
    const struct {
        std::string_view name;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"d", 86'400}, {"h", 3'600}, {"m", 60}, {"s", 1}};
    for (const auto& unit : units) {
        if (!std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(unit.name)) continue;
        at += unit.name.size();
        return unit.seconds;
    }
    return -1;
}

}  // namespace

Result<Duration> parse_duration(const std::string& text) {
    const Error bad = invalid("'" + text + "' is no duration; write 90, 90s, 200ms, 15m, 1h30m, 2d or HH:MM:SS");
    if (text.empty() || text.size() > 32) return bad;
    const char* at = text.data();
    const char* const end = at + text.size();
    double total = 0;
    if (text.find(':') != std::string::npos) {
        for (int fields = 1;; ++fields) {
            double value = 0;
            if (fields > 3 || !take_number(at, end, value)) return bad;
            total = total * 60 + value;
            if (at == end) break;
            if (*at++ != ':') return bad;
        }
    } else {
        while (at != end) {
            double value = 0;
            if (!take_number(at, end, value)) return bad;
            const double unit = at == end ? 1 : take_unit(at, end);
            if (unit < 0) return bad;
            total += value * unit;
        }
    }
    if (!(total >= 0 && total <= 366.0 * 86'400)) return invalid("'" + text + "' is more than 366 days");
    return seconds_to_duration(total);
}

std::string format_duration(Duration time) {
    constexpr std::int64_t kSecond = 1'000'000;
    const std::int64_t us = time.count();
    if (us < 10 * kSecond) {
        char text[32];
        std::snprintf(text, sizeof text, us % kSecond == 0 ? "%.0fs" : "%.2fs", to_seconds(time));
        return text;
    }
    struct Unit {
        std::int64_t seconds;
        const char* name;
    };
    constexpr Unit kUnits[] = {{86'400, "d"}, {3'600, "h"}, {60, "m"}, {1, "s"}};
    std::int64_t left = us / kSecond;
    std::string text;
    int told = 0;
    for (const Unit& unit : kUnits) {
        const std::int64_t count = left / unit.seconds;
        left %= unit.seconds;
        if (count > 0 && told < 2) text += std::to_string(count) + unit.name;
        told += count > 0 || told > 0;
    }
    return text;
}

}  // namespace zbs
