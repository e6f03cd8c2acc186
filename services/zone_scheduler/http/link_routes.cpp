#include "services/zone_scheduler/http/zone_codec.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {

void add_link_routes(http::Router& router, ZoneServices& services) {
    router.add_sync(
        "GET", "/v1/links", Action::kListLinks, http::Body::kNone, [&services](const http::Request& request) {
            if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
            return http::ok(codec::encode_links(services.config.name(), services.links.links(), services.node_links));
        });
}

}  // namespace zbs
