#pragma once
#include <memory>
#include <string>
#include <vector>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/host/service_host.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// Reads the zone's keys, and makes grid users and the registry known (that into `settings`). The token that stands for
/// keys on plain loopback; empty where the zone has keys. Errors: keys of another zone than the configuration names, or
/// none where peers or a registry need them.
Result<std::string> load_credentials(ServiceHost& host, const StateFolder& state, ZoneSettings& settings);

/// Calls to other zones and to the registry.
std::unique_ptr<cpprest::HttpCaller> make_client(const ServiceHost& host, const ZoneSettings& settings);

/// Grid users as the configuration names them now; who is gone from it is forgotten.
Result<void> name_grid_users(openssl::TrustStore& trust, const std::vector<GridUsers>& before,
                             const std::vector<GridUsers>& now);

}  // namespace zbs::zone_program
