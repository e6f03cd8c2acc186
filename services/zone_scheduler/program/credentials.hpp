#pragma once
#include <memory>
#include <string>
#include <vector>

#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/ports/secrets.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {

/// The zone's keys, where it has some; else the token that stands for them on plain loopback.
struct Credentials {
    std::unique_ptr<openssl::KeyFolder> keys;
    std::shared_ptr<openssl::TlsServer> server;
    std::shared_ptr<openssl::TlsClient> client;
    std::string local_token;
};
/// Errors: keys of somebody else than the configuration names, or none where peers or a registry need them.
Result<Credentials> load_credentials(const StateFolder& state, const ZoneSettings& settings,
                                     const openssl::TrustStore& trust, const openssl::Now& now, Secrets& secrets);

/// Grid users as the configuration names them now; who is gone from it is forgotten.
Result<void> name_grid_users(openssl::TrustStore& trust, const std::vector<GridUsers>& before,
                             const std::vector<GridUsers>& now);

}  // namespace zbs::zone_program
