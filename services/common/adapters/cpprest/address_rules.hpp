#pragma once
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/host_name.hpp"

namespace zbs::cpprest {

/// scheme://host[:port] and nothing behind, as other organisations give their addresses.
struct ServiceUrl {
    std::string scheme;  ///< "http" or "https"
    HostPort at;         ///< port 1..65535
    std::string text() const { return scheme + "://" + at.text(); }
};
/// Errors, each with what to write instead: user information, path, query, control bytes, a port out of range.
Result<ServiceUrl> parse_service_url(const std::string& url);

/// Whether a peer or registry may make us call this literal address: only what is reachable from anywhere. Refused:
/// loopback, private, link-local, shared, multicast, unspecified, broadcast, documentation and benchmark ranges, and
/// the same hidden in IPv6 (mapped, compatible, 6to4, NAT64, Teredo). Errors: kDenied with the range.
Result<void> check_public_address(const std::string& literal);

/// All addresses of `host`, resolved once; a caller that connects to one of these cannot be sent elsewhere by a name
/// that changes. Unless `allow_private`, every one of them must be public. Blocks. Errors: kUnavailable, kDenied.
Result<std::vector<std::string>> resolve_service(const ServiceUrl& url, bool allow_private);

}  // namespace zbs::cpprest
