#include "services/common/adapters/cpprest/address_rules.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zbs::cpprest {
namespace {

namespace ip = boost::asio::ip;

struct Range4 {
    std::uint32_t base;
    int bits;
    const char* what;
};
// IANA's special-purpose registry: nothing in here is a service of another organisation.
constexpr std::array kRefused4 = {
    Range4{0x00000000, 8, "this host"},      Range4{0x0A000000, 8, "private"},
    Range4{0x64400000, 10, "shared"},        Range4{0x7F000000, 8, "loopback"},
    Range4{0xA9FE0000, 16, "link-local"},    Range4{0xAC100000, 12, "private"},
    Range4{0xC0000000, 24, "protocol"},      Range4{0xC0000200, 24, "documentation"},
    Range4{0xC0586300, 24, "relay"},         Range4{0xC0A80000, 16, "private"},
    Range4{0xC6120000, 15, "benchmark"},     Range4{0xC6336400, 24, "documentation"},
    Range4{0xCB007100, 24, "documentation"}, Range4{0xE0000000, 4, "multicast"},
    Range4{0xF0000000, 4, "reserved"},
};

struct Range6 {
    std::array<std::uint8_t, 16> base;
    int bits;
    const char* what;
};
constexpr std::array kRefused6 = {
    Range6{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 128, "unspecified"},
    Range6{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, "loopback"},
    Range6{{0x01, 0}, 64, "discard"},
    Range6{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, "local NAT64"},
    Range6{{0x20, 0x01, 0x0d, 0xb8}, 32, "documentation"},
    Range6{{0x20, 0x01, 0x00, 0x02}, 48, "benchmark"},
    Range6{{0x3f, 0xff}, 20, "documentation"},
    Range6{{0x5f, 0x00}, 16, "segment routing"},
    Range6{{0xfc}, 7, "private"},
    Range6{{0xfe, 0x80}, 10, "link-local"},
    Range6{{0xfe, 0xc0}, 10, "site-local"},
    Range6{{0xff}, 8, "multicast"},
};

const char* refused_range(std::uint32_t address) {
    for (const Range4& range : kRefused4) {
        if ((address ^ range.base) >> (32 - range.bits) == 0) return range.what;
    }
    return nullptr;
}

bool is_within(const ip::address_v6::bytes_type& address, const Range6& range) {
    for (int bit = 0; bit < range.bits; ++bit) {
        const auto byte = static_cast<std::size_t>(bit / 8);
        if (((address[byte] ^ range.base[byte]) >> (7 - bit % 8) & 1) != 0) return false;
    }
    return true;
}

std::uint32_t four_bytes(const ip::address_v6::bytes_type& bytes, std::size_t at) {
    return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 |
           bytes[at + 3];
}

/// The IPv4 address that an IPv6 one leads to, where it does.
std::optional<std::uint32_t> embedded(const ip::address_v6::bytes_type& b) {
    const auto zero = [&b](std::size_t begin, std::size_t end) {
        return std::all_of(b.begin() + static_cast<std::ptrdiff_t>(begin), b.begin() + static_cast<std::ptrdiff_t>(end),
                           [](unsigned char byte) { return byte == 0; });
    };
    if (zero(0, 10) && b[10] == 0xff && b[11] == 0xff) return four_bytes(b, 12);                           // mapped
    if (zero(0, 12)) return four_bytes(b, 12);                                                             // compatible
    if (zero(0, 8) && b[8] == 0xff && b[9] == 0xff && b[10] == 0 && b[11] == 0) return four_bytes(b, 12);  // translated
    if (b[0] == 0x00 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b) return four_bytes(b, 12);            // NAT64
    if (b[0] == 0x20 && b[1] == 0x02) return four_bytes(b, 2);                                             // 6to4
    if (b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0) return ~four_bytes(b, 12);                 // Teredo
    return std::nullopt;
}

}  // namespace

Result<ServiceUrl> parse_service_url(const std::string& url) {
    // A password may hold any letter: nothing in front of the last '@' is shown.
    const std::size_t user_end = url.rfind('@');
    const std::string shown = user_end == std::string::npos ? url : "..." + url.substr(user_end);
    const auto bad = [&shown](const std::string& why) {
        return invalid("'" + shown + "' is no service's address: " + why);
    };
    ServiceUrl parsed;
    std::string_view rest = url;
    const std::size_t slashes = url.find("://");
    if (rest.starts_with("https://")) {
        parsed.scheme = "https";
    } else if (rest.starts_with("http://")) {
        parsed.scheme = "http";
    } else {
        if (slashes == std::string::npos)
            return bad("it must start with https:// (http:// on loopback), e.g. https://zone.example:8001");
        return bad("it must start with https:// (http:// on loopback)" +
                   (user_end == std::string::npos ? ", not with " + url.substr(0, slashes + 3) : std::string{}));
    }
    rest.remove_prefix(parsed.scheme.size() + 3);
    const std::string start = parsed.scheme + "://";
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos)
        return bad("no user or password may stand in it; write " + start +
                   std::string(rest.substr(at + 1, rest.find_first_of("/?#,", at) - at - 1)));
    if (const std::size_t end = rest.find_first_of("/?#"); end != std::string_view::npos)
        return bad("nothing may follow host and port; write " + start + std::string(rest.substr(0, end)));
    auto at = HostPort::parse(rest, parsed.scheme == "https" ? 443 : 80);
    if (!at) return bad(at.error().message);
    parsed.at = *std::move(at);
    return parsed;
}

Result<void> check_public_address(const std::string& literal) {
    boost::system::error_code fault;
    const ip::address address = ip::make_address(literal, fault);
    if (fault) return invalid("'" + literal + "' is no literal address");
    const char* range = nullptr;
    if (address.is_v4()) {
        range = refused_range(address.to_v4().to_uint());
    } else {
        const auto bytes = address.to_v6().to_bytes();
        for (const Range6& refused : kRefused6) {
            if (is_within(bytes, refused)) range = refused.what;
        }
        if (const auto inner = embedded(bytes); inner && range == nullptr) range = refused_range(*inner);
    }
    if (range == nullptr) return {};
    return Error{ErrorCode::kDenied,
                 "address " + literal + " is not called, because it is " + range +
                     "; where zones share such a network set allow_private_addresses",
                 {}};
}

Result<std::vector<std::string>> resolve_service(const ServiceUrl& url, bool allow_private) {
    boost::asio::io_context io;
    ip::tcp::resolver resolver(io);
    boost::system::error_code fault;
    const auto found = resolver.resolve(url.at.host, std::to_string(url.at.port), fault);
    if (fault)
        return Error{ErrorCode::kUnavailable, "host '" + url.at.host + "' cannot be found: " + fault.message(), {}};
    std::vector<std::string> addresses;
    for (const auto& entry : found) {
        const std::string literal = entry.endpoint().address().to_string();
        if (!allow_private) {
            if (auto good = check_public_address(literal); !good) return good.error();
        }
        addresses.push_back(literal);
    }
    if (addresses.empty()) return Error{ErrorCode::kUnavailable, "host '" + url.at.host + "' has no address", {}};
    return addresses;
}

}  // namespace zbs::cpprest
