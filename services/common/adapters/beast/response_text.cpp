#include "services/common/adapters/beast/response_text.hpp"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <cstdio>
#include <string_view>

#include "services/common/adapters/beast/request_head.hpp"

namespace zbs::beast {

std::string http_date(std::time_t at) {
    constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm utc{};
    gmtime_r(&at, &utc);
    char text[64];
    std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[utc.tm_wday], utc.tm_mday,
                  kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
    return text;
}

const std::string& http_date_now() {
    thread_local std::time_t written = -1;
    thread_local std::string text;
    if (const std::time_t now = std::time(nullptr); now != written) {
        text = http_date(now);
        written = now;
    }
    return text;
}

std::string response_text(const http::Reply& reply, bool keep_alive, bool is_head, std::string_view date) {
    constexpr std::size_t kHeadBytes = 512;
    std::string text;
    text.reserve(kHeadBytes + (is_head ? 0 : reply.body.size()));
    const auto field = [&text](std::string_view name, std::string_view value) {
        if (has_control_bytes({value.data(), value.size()})) return;
        text.append(name).append(": ").append(value).append("\r\n");
    };
    const auto reason = boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(reply.status));
    text.append("HTTP/1.1 ").append(std::to_string(reply.status)).append(" ");
    text.append(reason.data(), reason.size()).append("\r\n");
    if (!date.empty()) field("Date", date);
    const bool has_body = reply.status >= 200 && reply.status != 204 && reply.status != 304;
    if (has_body) field("Content-Type", reply.content_type);
    field("X-Content-Type-Options", "nosniff");
    const bool says_how_long =
        std::ranges::any_of(reply.headers, [](const auto& header) { return header.first == "Cache-Control"; });
    if (!says_how_long) field("Cache-Control", "no-store");
    for (const auto& [name, value] : reply.headers) field(name, value);
    if (!keep_alive) field("Connection", "close");
    if (has_body && !reply.stream) field("Content-Length", std::to_string(reply.body.size()));
    text.append("\r\n");
    if (!is_head) text.append(reply.body);
    return text;
}

}  // namespace zbs::beast
