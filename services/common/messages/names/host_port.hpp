#pragma once
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"

namespace zbs {

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
