#pragma once
#include <string>
#include <string_view>

#include "services/common/http/reply.hpp"

namespace zbs::beast {

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
