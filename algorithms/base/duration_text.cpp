#include "algorithms/base/duration_text.hpp"

#include <charconv>

namespace zbs {
namespace {

/// The number that begins at `at`, which moves behind it; false where there is none. No signs, no exponents.
bool take_number(const char*& at, const char* end, double& value) {
    if (at == end || *at < '0' || *at > '9') return false;
    const auto [stop, error] = std::from_chars(at, end, value, std::chars_format::fixed);
    at = stop;
    return error == std::errc{};
}

double seconds_of_unit(char unit) {
    switch (unit) {
        case 'd':
            return 86'400;
        case 'h':
            return 3'600;
        case 'm':
            return 60;
        case 's':
            return 1;
        default:
            return -1;
    }
}

}  // namespace

Result<Duration> parse_duration(const std::string& text) {
    const Error bad = invalid("'" + text + "' is no duration; write 90, 90s, 15m, 1h30m, 2d or HH:MM:SS");
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
            const double unit = at == end ? 1 : seconds_of_unit(*at++);
            if (unit < 0) return bad;
            total += value * unit;
        }
    }
    if (!(total >= 0 && total <= 366.0 * 86'400)) return bad;
    return seconds_to_duration(total);
}

}  // namespace zbs
