#include "services/zone_scheduler/program/credentials.hpp"

#include <algorithm>
#include <filesystem>

#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::zone_program {
namespace {

Result<std::string> local_token(const std::string& path, Secrets& secrets) {
    if (auto known = process::read_file(path); known && known->size() == 26) return *std::move(known);
    // Of two schedulers that start at once on one folder both take that of the one that was faster.
    const std::string draft = path + "." + secrets.fresh();
    std::error_code fault;
    if (process::write_file(draft, secrets.fresh())) std::filesystem::create_hard_link(draft, path, fault);
    std::filesystem::remove(draft, fault);
    if (auto made = process::read_file(path); made && made->size() == 26) return *std::move(made);
    return Error{ErrorCode::kUnavailable, "cannot write the token for local callers", path};
}

}  // namespace

Result<Credentials> load_credentials(const StateFolder& state, const ZoneSettings& settings,
                                     const openssl::TrustStore& trust, const openssl::Now& now, Secrets& secrets) {
    Credentials credentials;
    if (!state.has_identity()) {
        if (std::filesystem::exists(state.registry()) || !settings.zone.rules.empty() || !settings.zone.asks.empty()) {
            return invalid(
                "a zone with peers or a registry needs certificates; make them with 'zbs-zone init --config FILE'",
                state.identity());
        }
        auto token = local_token(state.local_token(), secrets);
        if (!token) return token.error();
        credentials.local_token = *std::move(token);
        return credentials;
    }
    auto keys = openssl::KeyFolder::open(state.identity(), now);
    if (!keys) return keys.error();
    credentials.keys = *std::move(keys);
    if (auto good = check_name(credentials.keys->name(), settings); !good) return good.error();
    auto server = openssl::TlsServer::make(*credentials.keys, trust);
    if (!server) return server.error();
    credentials.server = *std::move(server);
    credentials.client = std::make_shared<openssl::TlsClient>(*credentials.keys, trust);
    credentials.client->require_newest();
    return credentials;
}

Result<void> name_grid_users(openssl::TrustStore& trust, const std::vector<GridUsers>& before,
                             const std::vector<GridUsers>& now) {
    for (const GridUsers& users : before) {
        const bool stays = std::any_of(now.begin(), now.end(),
                                       [&](const GridUsers& next) { return next.organisation == users.organisation; });
        if (stays) continue;  // replaced below in one step: nobody is without a name in between
        if (auto cleared = trust.set_subject_map(users.organisation, {}); !cleared) return cleared;
    }
    for (const GridUsers& users : now) {
        if (auto named = trust.set_subject_map(users.organisation, users.subjects); !named) return named;
    }
    return {};
}

}  // namespace zbs::zone_program
