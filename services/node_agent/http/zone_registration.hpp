#pragma once
#include <functional>
#include <vector>

#include "services/common/ports/http_client.hpp"
#include "services/node_agent/domain/zone_session.hpp"

namespace zbs {

/// `PUT /v1/nodes/NAME` at the zone, for a `ZoneSession`: at the one of `zones` (not empty) that took the last
/// registration, else at the next, once each; the zone's schedulers are at them, of which one takes calls. Where none
/// does, its answer is the one that says more than that nobody is there. `client` must outlive it; `post` puts work on
/// the domain's strand.
ZoneSession::Send make_registration_sender(HttpClient& client, std::vector<ServiceAddress> zones,
                                           std::function<void(std::function<void()>)> post);

}  // namespace zbs
