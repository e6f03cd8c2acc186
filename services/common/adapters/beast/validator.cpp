#include "services/common/adapters/beast/validator.hpp"

#include <algorithm>

#include "services/common/messages/text/checksum.hpp"

namespace zbs::beast {

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
