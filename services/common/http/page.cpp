#include "services/common/http/page.hpp"

namespace zbs::http {

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
    if (call.origin.empty()) return false;
    const std::size_t end = call.origin.find("://");
    return end == std::string::npos || call.origin.substr(end + 3) != call.host;
}

}  // namespace zbs::http
