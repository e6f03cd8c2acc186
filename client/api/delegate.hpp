#pragma once
#include <string>

#include "client/api/zone_client.hpp"

namespace zbs::client {

/// Hands the home zone the right to run the parts of one application in other organisations' zones: home makes a key,
/// the proxy for it is signed here. May be repeated with the same `id`: the newer proxy takes the place of the older.
/// Nothing is done without TLS. Errors: the zone's.
Result<void> delegate(ZoneClient& zone, const std::string& id, const std::string& application, Duration lifetime);

/// How long an application's delegation should live: its walltime, an hour for the queues, at most 12 hours.
Duration delegation_lifetime(Duration walltime);

}  // namespace zbs::client
