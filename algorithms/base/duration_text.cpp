#include "algorithms/base/duration_text.hpp"

#include <cstdlib>

namespace zbs {

Result<Duration> parse_duration(const std::string& text) {
    const Error bad = invalid("'" + text + "' is no duration; write 90, 90s, 15m, 1h30m, 2d or HH:MM:SS");
    if (text.empty() || text.size() > 32) return bad;
    double total = 0;
    if (text.find(':') != std::string::npos) {
        double value = 0;
        int fields = 0;
        const char* at = text.c_str();
        for (;;) {
            char* end = nullptr;
            if (*at < '0' || *at > '9') return bad;
            value = value * 60 + static_cast<double>(std::strtol(at, &end, 10));
            ++fields;
            if (*end == '\0') break;
            if (*end != ':' || fields == 3) return bad;
            at = end + 1;
        }
        total = value;
    } else {
        const char* at = text.c_str();
        while (*at != '\0') {
            char* end = nullptr;
            if (*at < '0' || *at > '9') return bad;
            const double value = std::strtod(at, &end);
            double unit = 1;
            switch (*end) {
                case 'd':
                    unit = 86'400;
                    ++end;
                    break;
                case 'h':
                    unit = 3'600;
                    ++end;
                    break;
                case 'm':
                    unit = 60;
                    ++end;
                    break;
                case 's':
                    ++end;
                    break;
                case '\0':
                    break;
                default:
                    return bad;
            }
            total += value * unit;
            at = end;
        }
    }
    if (!(total >= 0 && total <= 366.0 * 86'400)) return bad;
    return seconds_to_duration(total);
}

}  // namespace zbs
