#include "services/common/messages/names/host_name.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "algorithms/base/text.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";  // '_': names of containers
constexpr std::string_view kExample = "e.g. zone-a.example.org";

/// The bytes of a literal address, 4 or 16; none for anything else.
std::string address_bytes(std::string_view host) {
    std::array<char, 16> bytes{};
    const std::string text(host);
    if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
    if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return {bytes.data(), 16};
    return {};
}

bool is_label(std::string_view label) {
    return !label.empty() && label.size() <= kMaxLabel && label.front() != '-' && label.back() != '-' &&
           label.find_first_not_of(kLetters) == std::string_view::npos;
}

bool is_dns_name(std::string_view host) {
    std::string_view last;
    for (std::string_view rest = host;;) {
        const std::size_t dot = std::min(rest.find('.'), rest.size());
        last = rest.substr(0, dot);
        if (!is_label(last)) return false;
        if (dot == rest.size()) break;
        rest.remove_prefix(dot + 1);
    }
    // "127.1" and "0x7f000001" are addresses to some programs and names to others.
    return last.find_first_not_of("0123456789") != std::string_view::npos && !last.starts_with("0x");
}

constexpr int kMaxPort = 65'535;
constexpr std::string_view kHostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

bool is_ipv6_without_brackets(std::string_view text) {
    if (text.find(':') == text.rfind(':')) return false;
    return text.find("::") != std::string_view::npos ||
           text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

}  // namespace

std::string host_fault(std::string_view host) {
    const std::string shown = "'" + printable_text(host, 100) + "' ";
    if (host.find('%') != std::string_view::npos && host.find(':') != std::string_view::npos)
        return shown +
               "has a zone id, which names a link of one machine and is not valid on other hosts; use an "
               "address without '%'";
    if (host.size() > 1 && host.ends_with('.'))
        return shown + "ends with a dot; write " + printable_text(host.substr(0, host.size() - 1), 100);
    return {};
}

bool is_literal_address(std::string_view host) { return !address_bytes(host).empty(); }

std::string address_text(std::string_view bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (bytes.size() != 4 && bytes.size() != 16) return {};
    return inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
}

std::vector<std::string> serving_hosts(const std::string& advertised, const std::string& listen_address) {
    std::vector<std::string> hosts;
    for (std::string host : {advertised, listen_address}) {
        if (!check_advertised_host(host)) continue;
        if (const std::string bytes = address_bytes(host); !bytes.empty()) host = address_text(bytes);
        if (!std::ranges::count(hosts, host)) hosts.push_back(host);
    }
    return hosts;
}

bool is_wildcard_address(std::string_view host) {
    if (host == "*" || host == "0") return true;
    std::string bytes = address_bytes(host);
    if (bytes.size() == 16 && bytes.substr(10, 2) == "\xff\xff") bytes.erase(0, 12);  // of IPv4, written as IPv6
    return !bytes.empty() && bytes.find_first_not_of('\0') == std::string::npos;
}

Result<void> check_advertised_host(std::string_view host) {
    const std::string shown = "'" + printable_text(host, 100) + "' ";
    if (host.empty()) return invalid("must name a host, " + std::string(kExample));
    if (host.size() > kMaxHostBytes) return invalid("is longer than " + std::to_string(kMaxHostBytes) + " bytes");
    if (host.find("://") != std::string_view::npos || host.find_first_of("/?#@") != std::string_view::npos)
        return invalid(shown + "is more than a host: leave out scheme, user, port and path, " + std::string(kExample));
    if (is_wildcard_address(host))
        return invalid(shown + "stands for all addresses of a machine, so nobody can be sent there: name one, " +
                       std::string(kExample));
    if (!address_bytes(host).empty() || is_dns_name(host)) return {};
    if (const std::string fault = host_fault(host); !fault.empty()) return invalid(fault);
    if (const Result<HostPort> read = HostPort::parse(host, /*default_port=*/0); read && read->host != host) {
        if (const Result<void> good = check_advertised_host(read->host); !good) return good;
        return invalid(shown + "is more than a host: write " + read->host +
                       ", without brackets and port; others call the port that is listened on");
    }
    if (host.starts_with('['))
        return invalid(shown +
                       "has brackets: write an address of IPv6 without them and without a port, e.g. 2001:db8::7");
    if (const std::size_t colon = host.find(':'); colon != std::string_view::npos && colon == host.rfind(':'))
        return invalid(shown + "names a port; leave it out, it is the one that is listened on");
    return invalid(shown + "is neither the name of a host nor an address, " + std::string(kExample));
}

Result<HostPort> HostPort::parse(std::string_view text, int default_port, int min_port) {
    if (text.empty() || (text.starts_with(':') && text.rfind(':') == 0)) return invalid("the host is missing");
    std::string_view host = text, rest;
    const bool has_brackets = text.starts_with('[');
    if (has_brackets) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) return invalid("the bracket of the IPv6 address is not closed");
        host = text.substr(1, end - 1);
        rest = text.substr(end + 1);
        if (!rest.empty() && !rest.starts_with(':')) return invalid("only a port may follow the host");
    } else {
        if (is_ipv6_without_brackets(text))
            return invalid("an IPv6 address stands in brackets, as in [2001:db8::7]:8001");
        host = text.substr(0, std::min(text.find(':'), text.size()));
        rest = text.substr(host.size());
    }
    if (const std::string fault = host_fault(host); !fault.empty()) return invalid(fault);
    if (has_brackets && (!is_literal_address(host) || host.find(':') == std::string_view::npos))
        return invalid("the brackets hold no IPv6 address");
    if (!has_brackets &&
        (host.empty() || host.size() > kMaxHostBytes || host.find_first_not_of(kHostLetters) != std::string_view::npos))
        return invalid(
            "the host must be a name of letters, digits, '-', '_' and '.', or a literal address (IPv6 in brackets)");

    HostPort read{.host = std::string(host), .port = default_port};
    if (rest.empty()) {
        if (default_port < 0) return invalid("the port is missing");
        return read;
    }
    const std::string_view port = rest.substr(1);
    if (port.empty()) return invalid("the port is missing behind the colon");
    read.port = parse_number<int>(port).value_or(-1);
    if (read.port < min_port || read.port > kMaxPort)
        return invalid("the port must be " + std::to_string(min_port) + " to " + std::to_string(kMaxPort) +
                       ", and is '" + printable_text(port, 100) + "'");
    return read;
}

std::string HostPort::text() const {
    const bool is_six = host.find(':') != std::string::npos;
    return (is_six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace zbs
