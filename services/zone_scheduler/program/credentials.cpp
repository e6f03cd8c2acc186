#include "services/zone_scheduler/program/credentials.hpp"

#include <algorithm>
#include <filesystem>

#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::zone_program {
namespace {

Result<std::string> make_local_token(const std::string& path, Secrets& secrets) {
    if (auto known = process::read_file(path); known && known->size() == 26) return *std::move(known);
    // Of two schedulers that start at once on one folder both take that of the one that was faster.
    const std::string draft = path + "." + secrets.fresh();
    std::error_code fault;
    if (process::write_file(draft, secrets.fresh())) std::filesystem::create_hard_link(draft, path, fault);
    std::filesystem::remove(draft, fault);
    if (auto made = process::read_file(path); made && made->size() == 26) return *std::move(made);
    return Error{ErrorCode::kUnavailable, "cannot write the token for local callers", path};
}

/// The zone's keys, or the token where it has none.
Result<std::string> open_keys(ServiceHost& host, const StateFolder& state, const ZoneSettings& settings) {
    if (state.has_identity()) {
        const auto check = [&settings](const Caller& name) { return check_name(name, settings); };
        if (auto opened = host.open_keys(state.identity(), check); !opened) return opened.error();
        return std::string{};
    }
    if (std::filesystem::exists(state.registry()) || !settings.zone.rules.empty() || !settings.zone.asks.empty()) {
        return invalid(
            "a zone with peers or a registry needs certificates; make them with 'zbs-zone init --config FILE'",
            state.identity());
    }
    return make_local_token(state.local_token(), host.secrets);
}

}  // namespace

Result<std::string> load_credentials(ServiceHost& host, const StateFolder& state, ZoneSettings& settings) {
    if (auto named = name_grid_users(host.trust, {}, settings.grid_users); !named) return named.error();
    Result<std::string> token = open_keys(host, state, settings);
    if (!token) return token;
    if (host.keys) {  // a standby has no bundle from a zone and uses its own
        if (auto pinned = host.trust.pin(settings.zone.organisation, host.keys->bundle()); !pinned)
            return pinned.error();
    }
    if (auto read = read_registry(state, settings.zone, host.trust); !read) return read.error();
    return token;
}

std::unique_ptr<cpprest::HttpCaller> make_client(const ServiceHost& host, const ZoneSettings& settings) {
    return std::make_unique<cpprest::HttpCaller>(
        cpprest::HttpCallerOptions{.self = settings.zone.self(),
                                   .local_token = {},
                                   .tls = host.make_tls_client(),
                                   .max_reply_bytes = limits::kMaxReplyBytes,
                                   .allow_private_addresses = settings.allow_private_addresses});
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
