#include "services/common/adapters/beast/port_rights.hpp"

#include <cstdint>
#include <fstream>
#include <string>

namespace zbs::beast {

PortRights own_port_rights() {
    PortRights rights;
    std::ifstream limit("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    if (int first = 0; limit >> first) rights.first_for_all = first;
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        constexpr int kNetBindService = 10;
        std::uint64_t effective = 0;
        if (word != "CapEff:" || !(status >> std::hex >> effective)) continue;
        rights.may_bind_below = (effective >> kNetBindService & 1) != 0;
        break;
    }
    return rights;
}

std::string port_remedy(const PortRights& rights, const ListenSetting& setting) {
    return "set " + setting.port + " to a port from " + std::to_string(rights.first_for_all) +
           " on, or give the service the right to those below: 'AmbientCapabilities=CAP_NET_BIND_SERVICE' and the same "
           "in 'CapabilityBoundingSet' of its unit";
}

std::string port_note(int port, const PortRights& rights) {
    if (!rights.needs_right(port) || !rights.may_bind_below) return {};
    return "port " + std::to_string(port) + " is below " + std::to_string(rights.first_for_all) +
           ": this process may listen there, a unit of systemd only with 'AmbientCapabilities=CAP_NET_BIND_SERVICE' "
           "and the same in its 'CapabilityBoundingSet'";
}

Result<void> check_port_right(int port, const PortRights& rights, const ListenSetting& setting) {
    if (!rights.needs_right(port) || rights.may_bind_below) return {};
    return Error{ErrorCode::kDenied,
                 "port " + std::to_string(port) + " is below " + std::to_string(rights.first_for_all) +
                     ", and this account may not listen there; " + port_remedy(rights, setting),
                 setting.place};
}

}  // namespace zbs::beast
