#include "services/common/adapters/beast/response_text.hpp"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <cstdio>

#include "services/common/adapters/beast/request_head.hpp"
#include "services/common/messages/text/checksum.hpp"

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

std::string entity_tag(std::string_view body) { return '"' + sha256(body).substr(0, 32) + '"'; }

bool names_tag(std::string_view if_none_match, std::string_view tag) {
    const auto skip = [&if_none_match](std::string_view letters) {
        if_none_match.remove_prefix(std::min(if_none_match.find_first_not_of(letters), if_none_match.size()));
    };
    skip(" \t");
    if (if_none_match.starts_with('*')) return if_none_match.find_first_not_of(" \t", 1) == std::string_view::npos;
    for (skip(" \t,"); !if_none_match.empty(); skip(" \t,")) {
        if (if_none_match.starts_with("W/")) if_none_match.remove_prefix(2);  // compared as if it were strong
        const std::size_t end = if_none_match.starts_with('"') ? if_none_match.find('"', 1) : std::string_view::npos;
        if (end == std::string_view::npos) return false;  // no list of tags: as if it were not there
        if (if_none_match.substr(0, end + 1) == tag) return true;
        if_none_match.remove_prefix(end + 1);
    }
    return false;
}

http::Reply validated(http::Reply reply, std::string_view if_none_match) {
    const bool says_itself = std::ranges::any_of(
        reply.headers, [](const auto& header) { return header.first == "Cache-Control" || header.first == "ETag"; });
    if (reply.status != 200 || reply.content_type != "application/json" || reply.stream || says_itself) return reply;
    const std::string tag = entity_tag(reply.body);
    reply.headers.emplace_back("ETag", tag);
    reply.headers.emplace_back("Cache-Control", "private, no-cache");
    if (!names_tag(if_none_match, tag)) return reply;
    reply.status = 304;
    reply.body.clear();
    return reply;
}

}  // namespace zbs::beast
