#include "services/common/adapters/beast/request_head.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/base/text.hpp"
#include "services/common/http/trace.hpp"

namespace zbs::beast {
namespace {

namespace bb = boost::beast;
namespace bh = boost::beast::http;

constexpr const char* kIdentityHeader = "Zbs-Identity";
constexpr const char* kTokenHeader = "Zbs-Token";

}  // namespace

bool has_control_bytes(bb::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string origin_of(const boost::asio::ip::address& address) {
    if (address.is_v4()) return address.to_string();
    const boost::asio::ip::address_v6 number = address.to_v6();
    if (number.is_v4_mapped()) return make_address_v4(boost::asio::ip::v4_mapped, number).to_string();
    auto bytes = number.to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
    return boost::asio::ip::address_v6(bytes).to_string() + "/64";
}

Result<http::Call> read_head(const bh::request<bh::string_body>& request) {
    http::Call call;
    const bb::string_view method = request.method_string();
    call.method = std::string(method.data(), method.size());
    const bb::string_view target = request.target();
    if (target.empty() || target[0] != '/' || has_control_bytes(target))
        return invalid("the request target must be a path");
    if (request.version() != 11 && request.version() != 10) return invalid("only HTTP/1.1 is spoken here");
    if (request.version() == 11 && request.count(bh::field::host) != 1)
        return invalid("exactly one Host header is needed");
    if (request.count(bh::field::content_length) > 1) return invalid("Content-Length is given twice");
    const bb::string_view length = request[bh::field::content_length];  // "4, 4" would pass Beast
    if (length.find_first_not_of("0123456789") != bb::string_view::npos)
        return invalid("Content-Length must be one number");
    if (const auto codings = request.count(bh::field::transfer_encoding); codings > 0) {
        if (request.count(bh::field::content_length) > 0)
            return invalid("Content-Length and Transfer-Encoding exclude each other");
        if (request.version() != 11) return invalid("Transfer-Encoding needs HTTP/1.1");
        if (codings > 1 || !bb::iequals(request[bh::field::transfer_encoding], "chunked"))
            return invalid("Transfer-Encoding must be chunked, once and alone");
    }
    const auto value_of = [](bb::string_view value) { return std::string(value.data(), value.size()); };
    call.accept = value_of(request[bh::field::accept]);
    call.last_event_id = value_of(request["Last-Event-ID"]);
    // Lines of one name are one list (RFC 9110, 5.3).
    const auto [known, end_of_known] = request.equal_range(bh::field::if_none_match);
    for (auto line = known; line != end_of_known; ++line)
        call.if_none_match += (call.if_none_match.empty() ? "" : ", ") + value_of(line->value());
    if (request.count("traceparent") == 1) {
        const bb::string_view trace = request["traceparent"];
        call.trace = http::read_traceparent({trace.data(), trace.size()});
    }
    call.host = value_of(request[bh::field::host]);
    // Two of one name are none that we know: refused as such where it matters.
    call.origin = request.count(bh::field::origin) > 1 ? "?" : value_of(request[bh::field::origin]);
    call.fetch_site = request.count("Sec-Fetch-Site") > 1 ? "?" : value_of(request["Sec-Fetch-Site"]);
    call.cookie = value_of(request[bh::field::cookie]);
    if (request.count(bh::field::content_type) == 1) call.content_type = value_of(request[bh::field::content_type]);
    if (auto good = http::read_target({target.data(), target.size()}, call); !good) return good.error();
    return call;
}

Result<PeerIdentity> read_local_identity(const bh::request<bh::string_body>& request, const std::string& token) {
    const auto refused = [](const char* why) { return Error{ErrorCode::kUnauthenticated, why, {}}; };
    const auto identities = request.count(kIdentityHeader);
    if (identities == 0) return PeerIdentity{};
    if (identities > 1) return invalid("Zbs-Identity is given twice");
    const bb::string_view value = request[kIdentityHeader];
    const std::optional<Caller> caller = parse_identity({value.data(), value.size()});
    if (!caller) return refused("Zbs-Identity must be spiffe://ORGANISATION/user/NAME");
    if (caller->kind != CallerKind::kUser && caller->kind != CallerKind::kOperator)
        return refused("only users and operators have a name without TLS; zones and registries need certificates");
    const bb::string_view shown = request[kTokenHeader];
    if (token.empty() || request.count(kTokenHeader) != 1 || !is_same_secret({shown.data(), shown.size()}, token))
        return refused(
            "without TLS a name counts only with the token that lies in the zone's state folder (file local_token); "
            "give it in Zbs-Token");
    return PeerIdentity(*caller, Evidence::kLocalToken);
}

}  // namespace zbs::beast
