#pragma once
#include <ctime>
#include <string>
#include <string_view>

#include "services/common/http/reply.hpp"

namespace zbs::beast {

/// The bytes of an HTTP/1.1 response, head and body in one piece: one buffer to encrypt and one to send costs half of
/// what Beast's own message takes. Headers whose value has control bytes are left out. `is_head`: the reply is to a
/// HEAD request; its body is left out but counted in Content-Length. Of a reply with a stream the end of the
/// connection is the end of the body.
/// `date`: the time of the reply as `http_date` writes it; empty = none.
std::string response_text(const http::Reply& reply, bool keep_alive, bool is_head, std::string_view date = {});

/// "Sun, 06 Nov 1994 08:49:37 GMT", as the header Date has it (RFC 9110, 5.6.7), whatever the locale.
std::string http_date(std::time_t at);
/// That of now; written once a second on each thread.
const std::string& http_date_now();

/// The strong validator of a body, in quotes: equal bytes have equal ones, other bytes others (128 bits of SHA-256).
/// O(size).
std::string entity_tag(std::string_view body);

/// Whether `if_none_match`, a header as RFC 9110, 13.1.2 has it, names `tag`.
bool names_tag(std::string_view if_none_match, std::string_view tag);

/// `reply` to a GET or HEAD with its validator, where it is JSON, of status 200 and whole: may be kept and has to be
/// asked for again, with the validator. 304 without a body where `if_none_match` names that already. Others stay as
/// they are: what goes on, what says itself how long it counts, and refusals.
http::Reply validated(http::Reply reply, std::string_view if_none_match);

}  // namespace zbs::beast
