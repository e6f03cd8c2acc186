#pragma once
#include <string_view>

#include "algorithms/base/result.hpp"

namespace zbs {

/// Whether others can be told `host` as where a service is: a DNS name or a literal address (IPv6 without brackets), at
/// most 253 bytes, without scheme, user, port or path, and not an address that stands for all of a machine's. Errors:
/// kInvalidArgument with what to write instead.
Result<void> check_advertised_host(std::string_view host);

/// True for "0.0.0.0", "::" and other writings of them: good to listen on, no address to be called at.
bool is_wildcard_address(std::string_view host);

}  // namespace zbs
