#include "services/common/adapters/system/network_interface.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <memory>

namespace zbs::system {
namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address> address_of(const sockaddr* address) {
    if (address == nullptr) return std::nullopt;
    if (address->sa_family == AF_INET)
        return ip::address_v4(ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr));
    if (address->sa_family != AF_INET6) return std::nullopt;
    ip::address_v6::bytes_type bytes;
    const auto& raw = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr.s6_addr;
    std::copy(std::begin(raw), std::end(raw), bytes.begin());
    return ip::address_v6(bytes);
}

/// Is `address` in the network whose first address and length of prefix these are?
bool is_in(const ip::address& address, const ip::address& base, unsigned short prefix) {
    if (address.is_v4() != base.is_v4()) return false;
    if (address.is_v4())
        return ip::network_v4(address.to_v4(), prefix).network() == ip::network_v4(base.to_v4(), prefix).network();
    return ip::network_v6(address.to_v6(), prefix).network() == ip::network_v6(base.to_v6(), prefix).network();
}

}  // namespace

Result<std::string> resolve_interface(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return text;
    boost::system::error_code no_v4;
    boost::system::error_code no_v6;
    const ip::network_v4 v4 = ip::make_network_v4(text, no_v4);
    const ip::network_v6 v6 = ip::make_network_v6(text, no_v6);
    if (no_v4 && no_v6)
        return invalid("'" + text +
                       "' is no network; write one as 10.1.0.0/16 or fd00::/8, or the name of an interface");
    const ip::address base = no_v4 ? ip::address(v6.address()) : ip::address(v4.address());
    const unsigned short prefix = no_v4 ? v6.prefix_length() : v4.prefix_length();
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return Error{ErrorCode::kUnavailable, "cannot list the interfaces of this host", {}};
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(list, freeifaddrs);
    for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
        const auto address = address_of(at->ifa_addr);
        if (address && (at->ifa_flags & IFF_UP) != 0 && is_in(*address, base, prefix)) return std::string(at->ifa_name);
    }
    return Error{ErrorCode::kUnavailable, "no interface of this host that is up has an address in " + text, {}};
}

}  // namespace zbs::system
