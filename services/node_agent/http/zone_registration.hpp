#pragma once
#include <functional>
#include <string>

#include "services/common/ports/http_client.hpp"
#include "services/node_agent/domain/zone_session.hpp"

namespace zbs {

/// `PUT /v1/nodes/NAME` at the zone, for a `ZoneSession`. `client` must outlive it; `post` puts work on the domain's
/// strand.
ZoneSession::Send make_registration_sender(HttpClient& client, ServiceAddress zone,
                                           std::function<void(std::function<void()>)> post);

}  // namespace zbs
