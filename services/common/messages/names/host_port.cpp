#include "services/common/messages/names/host_port.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs {
namespace {

constexpr int kMaxPort = 65'535;
constexpr std::string_view kHostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

bool is_ipv6_without_brackets(std::string_view text) {
    if (text.find(':') == text.rfind(':')) return false;
    return text.find("::") != std::string_view::npos ||
           text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

}  // namespace

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
