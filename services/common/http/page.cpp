#include "services/common/http/page.hpp"

#include "services/common/messages/names/host_name.hpp"

namespace zbs::http {
namespace {

bool is_own_site(const Call& call) {
    const std::size_t end = call.origin.find("://");
    if (end == std::string::npos || call.origin.substr(0, end) != call.scheme) return false;
    const int default_port = call.scheme == "https" ? 443 : 80;
    const auto site = HostPort::parse(call.origin.substr(end + 3), default_port);
    const auto own = HostPort::parse(call.host, default_port);
    return site && own && *site == *own;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> page_headers() {
    return {{"Content-Security-Policy",
             "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
             "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
            {"Referrer-Policy", "no-referrer"},
            {"Cross-Origin-Opener-Policy", "same-origin"},
            {"Cross-Origin-Resource-Policy", "same-origin"}};
}

bool comes_from_elsewhere(const Call& call) {
    // Origin alone decides about reading: a link on another site's page may lead to ours.
    const bool changes = call.method != "GET" && call.method != "HEAD";
    if (changes && !call.fetch_site.empty() && call.fetch_site != "same-origin" && call.fetch_site != "none")
        return true;
    return !call.origin.empty() && !is_own_site(call);
}

}  // namespace zbs::http
