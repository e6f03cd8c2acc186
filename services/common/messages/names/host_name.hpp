#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs {

inline constexpr std::size_t kMaxHostBytes = 253;

/// Whether a service may announce `host` as its address: a DNS name or a literal address (IPv6 without brackets), at
/// most 253 bytes, without scheme, user, port or path, and not an address that stands for all of a machine's. Errors:
/// kInvalidArgument with what to write instead.
Result<void> check_advertised_host(std::string_view host);

/// Why a host that a resolver may accept is refused wherever a host is named, in settings and in URLs, with the remedy:
/// a zone id behind an address of IPv6, a dot at the end of a name. Empty for any other host.
std::string host_fault(std::string_view host);

/// True for a literal address of IPv4 or IPv6, without brackets.
bool is_literal_address(std::string_view host);

/// The literal address of 4 or 16 bytes in network order; empty for any other number of them.
std::string address_text(std::string_view bytes);

/// True for "0.0.0.0", "::" and other writings of them: good to listen on, no address to be called at.
bool is_wildcard_address(std::string_view host);

/// The hosts of a service that listens at `listen_address` and announces `advertised` (empty: that address): each once,
/// addresses in their canonical writing; a wildcard is none.
std::vector<std::string> serving_hosts(const std::string& advertised, const std::string& listen_address);

/// An address of a service, "HOST:PORT", in settings, in URLs and in options of launchers: all of ZBS reads and writes
/// it by this type.
struct HostPort {
    std::string host;  ///< name or literal address, IPv6 without brackets
    int port = 0;      ///< 0..65535

    /// A host, at most 253 bytes: a name of letters, digits, '-', '_' and '.', a literal address of IPv4, or one of
    /// IPv6 in brackets; and a port from `min_port` (0 or 1) to 65535. Without a port it is `default_port`; if that is
    /// negative, the port is an error. Errors: kInvalidArgument with the fault as a clause ("the port ..."), to which
    /// the caller adds the place. O(length).
    static Result<HostPort> parse(std::string_view text, int default_port = -1, int min_port = 1);

    /// The same text again: IPv6 in brackets, always with a port.
    std::string text() const;

    bool operator==(const HostPort&) const = default;
};

}  // namespace zbs
