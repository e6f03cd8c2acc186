#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <filesystem>
#include <iostream>
#include <utility>

#include "schemas/contract.hpp"
#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/adapters/cpprest/zone_transport.hpp"
#include "services/common/adapters/openssl/random_secrets.hpp"
#include "services/common/adapters/openssl/self_renewal.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/process/step_executor.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/adapters/system/spd_log.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/signed_entry.hpp"
#include "services/common/http/rate_limit.hpp"
#include "services/common/messages/host_name.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/domain/registry_session.hpp"
#include "services/zone_scheduler/domain/trust_exchange.hpp"
#include "services/zone_scheduler/http/gate.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

Result<ApplicationModel> decode_model_text(std::string_view text) {
    const auto json = codec::parse(text);
    if (!json) return json.error();
    return codec::decode_model(*json);
}

/// TLS of the zone's server.
class ZoneTls : public beast::TlsGate {
  public:
    explicit ZoneTls(std::shared_ptr<openssl::TlsServer> server) : server_(std::move(server)) {}
    std::shared_ptr<ssl_ctx_st> context() const override { return server_->context(); }
    PeerIdentity identify(ssl_st* connection) const override { return server_->identify(connection); }

  private:
    std::shared_ptr<openssl::TlsServer> server_;
};

/// The zone's keys, where it has some; else the token that stands for them on plain loopback.
struct Credentials {
    std::unique_ptr<openssl::KeyFolder> keys;
    std::shared_ptr<openssl::TlsServer> server;
    std::shared_ptr<openssl::TlsClient> client;
    std::string local_token;
};

Result<std::string> local_token(const std::string& path, Secrets& secrets) {
    if (auto known = process::read_file(path); known && known->size() == 26) return *std::move(known);
    std::string token = secrets.fresh();
    if (!process::write_file(path, token))
        return Error{ErrorCode::kUnavailable, "cannot write the token for local callers", path};
    return token;
}

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
    const Caller expected{CallerKind::kZone, settings.zone.organisation, settings.zone.zone.name};
    if (!(credentials.keys->name() == expected)) {
        return invalid("the certificate is of " + to_uri(credentials.keys->name()) + ", the configuration of " +
                           to_uri(expected) + "; correct one of them",
                       state.identity());
    }
    auto server = openssl::TlsServer::make(*credentials.keys, trust);
    if (!server) return server.error();
    credentials.server = *std::move(server);
    credentials.client = std::make_shared<openssl::TlsClient>(*credentials.keys, trust);
    credentials.client->require_newest();
    return credentials;
}

/// Grid users as the configuration names them now; who is gone from it is forgotten.
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

}  // namespace

int run(const std::string& config_path) {
    Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return fail(settings.error());
    ZoneConfig& config = settings->zone;
    const StateFolder state{settings->state_folder};
    std::error_code fault;
    std::filesystem::create_directories(state.path, fault);
    chmod(state.path.c_str(), 0700);
    const auto lock = process::FolderLock::take(state.path);
    if (!lock) return fail(lock.error());
    const auto log = system::make_log("zbs-zone." + config.zone.name);
    auto database = sqlite::open_zone_database(state.database());
    if (!database) return fail(database.error());
    const Caller self{CallerKind::kZone, config.organisation, config.zone.name};
    auto audit = sqlite::open_audit_log(state.audit(), {to_uri(self), system::wall_clock()});
    if (!audit) return fail(audit.error());
    std::vector<std::string> hidden = {state.path};
    hidden.insert(hidden.end(), settings->hidden_paths.begin(), settings->hidden_paths.end());
    auto executor = process::make_step_executor({.folder = state.steps(),
                                                 .supervisor = settings->step_supervisor,
                                                 .hidden_paths = std::move(hidden),
                                                 .default_account = settings->default_account,
                                                 .allow_root_jobs = !config.run_as_accounts,
                                                 .minimum_uid = static_cast<uid_t>(settings->minimum_uid),
                                                 .require_isolation = settings->require_isolation,
                                                 .shared_memory = settings->shared_memory});
    if (!executor) return fail(executor.error());
    log->info("jobs", {{"protection", (*executor)->protection().text}});

    boost::asio::io_context io;
    auto strand = boost::asio::make_strand(io);
    system::AsioClock clock(strand);
    system::SystemIds ids;
    openssl::RandomSecrets secrets;
    const openssl::Now now = [&clock] { return clock.now(); };
    openssl::TrustStore trust(now);
    if (auto named = name_grid_users(trust, {}, settings->grid_users); !named) return fail(named.error());
    Result<Credentials> credentials = load_credentials(state, *settings, trust, now, secrets);
    if (!credentials) return fail(credentials.error());
    if (credentials->server && is_wildcard_address(settings->advertised_host)) {
        return fail(
            invalid("'listen' takes all addresses of this machine, so others must be told by which one to call: "
                    "set 'advertise', e.g. advertise = \"zone-a.example.org\"",
                    config_path));
    }

    http::Router router;
    // From outside: at once where nothing else is under way, without a change of threads.
    const auto serve = [&router, strand](http::Call call, http::Respond respond) {
        boost::asio::dispatch(strand, [&router, call = std::move(call), respond = std::move(respond)]() mutable {
            router.dispatch(std::move(call), std::move(respond));
        });
    };
    // From the zone itself: when its own work is done.
    const auto call_self = [&router, strand](http::Call call, http::Respond respond) {
        boost::asio::post(strand, [&router, call = std::move(call), respond = std::move(respond)]() mutable {
            router.dispatch(std::move(call), std::move(respond));
        });
    };
    if (auto known = read_registry(state, config, trust); !known) return fail(known.error());
    const auto transport = cpprest::make_zone_transport(
        {.calls = {.self = self,
                   .tls = credentials->client,
                   .max_reply_bytes = limits::kMaxReplyBytes,
                   .allow_private_addresses = settings->allow_private_addresses},
         .self = self,
         .post = [strand](std::function<void()> work) { boost::asio::post(strand, std::move(work)); },
         .own = call_self});
    PeeringService peerings(config, clock, *database->site, trust, *log);
    AuthorizationFilter filter(config, clock, *database->site, peerings);
    PartService parts(config, clock, *database->zone, **executor, peerings, filter, *log, decode_model_text);
    PeerService peers(config, clock, *database->zone, *transport, credentials->keys.get(), trust, peerings, *log);
    RegistrySession registry(
        config, clock, *transport, trust,
        {.sign = [&credentials](const ZoneEntry& entry) { return codec::sign_entry(*credentials->keys, entry); },
         .verify = [&trust](const SignedText& text) { return codec::verify_entry(trust, text); }},
        *log, [&peers](const std::vector<ZoneEntry>& entries) { peers.found(entries); });
    registry.on_enrolled([&state] { forget_registry_code(state); });
    MembershipService membership(config, clock, *database->site, credentials->keys.get(), trust, secrets, *log);
    DelegationService delegations(config, clock, *database->site, credentials->keys.get(), trust, *log);
    TrustExchange exchange(clock, *transport, membership, *log, [&peers] {
        std::vector<ServiceAddress> known;
        for (const Peer& peer : peers.peers()) known.push_back(address_of(peer));
        return known;
    });
    ApplicationService applications(config, clock, ids, *database->zone, **executor, *transport, peers, *log);
    applications.use_delegations(delegations);
    applications.use_accounts([&](const Caller& user) -> Result<std::string> {
        if (!config.run_as_accounts) return std::string{};
        const Entitlement own = filter.find(
            {.home = self, .user = user, .groups = membership.groups_of(user), .walltime = {}, .usage = {}});
        if (!own.given)
            return Error{ErrorCode::kRejected, "this zone has no account for you; ask " + config.contact, {}};
        Result<std::string> account = filter.take_account(own, user);
        if (!account) return account;
        if (auto noted = filter.note_run(*account); !noted) return noted.error();
        return account;
    });
    parts.require_delegations([&delegations](const PartRequest& part, bool required) -> Result<void> {
        if (!part.delegation && !required) return {};
        if (!part.delegation)
            return Error{ErrorCode::kDenied,
                         "this zone wants to see the user's delegation; submit with 'zbs run' or 'zbs submit', which "
                         "sign one",
                         "/delegation"};
        const Result<DelegationInfo> good = delegations.check(part, *part.delegation);
        if (!good) return good.error();
        return {};
    });
    filter.use_blocks([&membership](const Caller& subject) { return membership.is_blocked(subject); });
    applications.use_groups([&membership](const Caller& user) { return membership.groups_of(user); });
    peerings.use_blocks([&membership](const Caller& subject) { return membership.is_blocked(subject); });
    peerings.use_usage([&parts](const std::string& organisation) { return parts.usage_of(organisation); });
    ZoneServices services{config,      applications, parts,           peers,   peerings,       membership,
                          delegations, registry,     *database->zone, **audit, zone_contract()};
    http::DecisionLog decisions(clock, **audit, *log, to_uri(self));
    ZoneGate gate(services, decisions);
    router = make_zone_routes(services);
    router.on_exception([&log](const std::string& what) { log->warn("handler_threw", {{"what", what}}); });
    router.guard([&gate](Action action, const http::Call& call) { return gate.check(action, call); });
    router.watch([&decisions, &peerings](Action action, const http::Call& call, int status) {
        decisions.done(action, call, status);
        if (status == 400 && http::changes_something(call) && call.caller().kind == CallerKind::kZone)
            peerings.note(call.caller().organisation, TrustEvent::kInvalidRequest);
    });
    router.name_calls([&ids] { return to_string(ids.fresh()); });

    http::RateLimiter limiter(settings->rates);
    beast::ServerOptions options{.address = settings->listen_address,
                                 .port = static_cast<unsigned short>(settings->listen_port),
                                 .max_connections = limits::kMaxConnections,
                                 .max_header_bytes = limits::kMaxHeaderBytes,
                                 .max_body_bytes = limits::kMaxBodyBytes,
                                 .local_token = credentials->local_token};
    if (credentials->server) options.tls = std::make_shared<ZoneTls>(credentials->server);
    options.admit = [&](const std::string& address) {
        return !limiter.take_connection(address, clock.steady_now()).has_value();
    };
    // Before the strand: a flood of one caller costs the others nothing there.
    beast::Server server(io, options, [&](http::Call call, http::Respond respond) {
        if (const auto wait = limiter.take(call.peer, call.address, clock.steady_now()))
            return respond(http::too_many_requests(call.peer, *wait));
        serve(std::move(call), std::move(respond));
    });
    if (auto started = server.start(); !started) return fail(started.error());
    const std::string& host = settings->advertised_host;
    config.url = (credentials->server ? "https://" : "http://") +
                 (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(server.port());
    if (!process::write_file(state.address(), config.url + "\n"))
        return fail({ErrorCode::kUnavailable, "cannot write the address of this zone", state.address()});
    if (auto resumed = membership.resume(); !resumed) return fail(resumed.error());
    if (auto resumed = peerings.resume(); !resumed) return fail(resumed.error());
    if (auto resumed = filter.resume(); !resumed) return fail(resumed.error());
    if (auto resumed = delegations.resume(); !resumed) return fail(resumed.error());
    if (auto resumed = parts.resume(); !resumed) return fail(resumed.error());
    if (auto resumed = peers.resume(); !resumed) return fail(resumed.error());
    if (auto resumed = applications.resume(); !resumed) return fail(resumed.error());
    std::unique_ptr<openssl::SelfRenewal> renewal;
    if (credentials->keys) {
        renewal = std::make_unique<openssl::SelfRenewal>(
            *credentials->keys, *credentials->server, clock, *log,
            "run 'zbs-zone renew --certificate FILE --config " + config_path + "' and send SIGHUP");
        renewal->on_renewed([&registry] { registry.sign_anew(); });
    }
    boost::asio::post(strand, [&] {
        decisions.start();
        if (renewal) renewal->start();
        exchange.start();
        registry.start();
    });
    std::cout << "zbs-zone " << config.zone.name << " listening on " << config.url << std::endl;

    const auto reload = [&] {
        boost::asio::post(strand, [&] {
            const Result<ZoneSettings> again = load_settings(config_path);
            if (!again)
                return log->warn("rules_not_reloaded",
                                 {{"place", again.error().pointer}, {"reason", again.error().message}});
            peerings.set_rules(again->zone.rules);
            peers.set_asks(again->zone.asks);
            filter.set_accounts(again->zone.accounts);
            if (auto named = name_grid_users(trust, settings->grid_users, again->grid_users); !named)
                log->warn("grid_users_not_reloaded", {{"reason", named.error().message}});
            else
                settings->grid_users = again->grid_users;
            log->info("rules_reloaded", {{"rules", std::to_string(again->zone.rules.size())}});
        });
        if (!credentials->keys) return;
        const Result<void> read = credentials->keys->reload();
        const Result<void> done = read ? credentials->server->reload() : read;
        if (!done) return log->warn("certificates_not_reloaded", {{"reason", done.error().message}});
        boost::asio::post(strand, [&registry] { registry.sign_anew(); });
        log->info("certificates_reloaded", {});
    };
    const auto drain = [&] {
        server.drain();
        boost::asio::post(strand, [&] {
            registry.leave();
            peerings.flush();
            // The registry's answer comes back through this strand; then nothing is left to wait for.
            clock.after(std::chrono::milliseconds{300}, [&clock, &io] {
                clock.cancel_all();
                io.stop();
            });
        });
    };
    beast::run_until_signalled(io, 2, drain, reload);
    if (auto flushed = (*audit)->flush(); !flushed) return fail(flushed.error());
    return 0;
}

}  // namespace zbs::zone_program
