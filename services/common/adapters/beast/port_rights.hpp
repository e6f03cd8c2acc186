#pragma once
#include "algorithms/base/result.hpp"
#include "services/common/adapters/beast/server.hpp"

namespace zbs::beast {

/// Who may listen on which ports of this host.
struct PortRights {
    int first_for_all = 1024;     ///< net.ipv4.ip_unprivileged_port_start: those below need the right
    bool may_bind_below = false;  ///< CAP_NET_BIND_SERVICE of this process
    bool needs_right(int port) const { return port > 0 && port < first_for_all; }
};
PortRights own_port_rights();

/// Whether a process with these rights could bind `port`. Errors: kDenied with the setting's place, and what to do.
Result<void> check_port_right(int port, const PortRights& rights, const ListenSetting& setting);

/// Where these rights, but not everybody's, are enough for `port`: that the service needs them, too. Else empty.
std::string port_note(int port, const PortRights& rights);

/// What to do about a port below `rights.first_for_all`.
std::string port_remedy(const PortRights& rights, const ListenSetting& setting);

}  // namespace zbs::beast
