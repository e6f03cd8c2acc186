#include "services/zone_scheduler/program/zone_parts.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "schemas/contract.hpp"
#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/signed_entry.hpp"
#include "services/common/http/rest_transport.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::zone_program {
namespace {

Result<ApplicationModel> decode_model_text(std::string_view text) {
    const auto json = codec::parse(text);
    if (!json) return json.error();
    return codec::decode_model(*json);
}

Caller self_of(const ZoneConfig& config) { return {CallerKind::kZone, config.organisation, config.zone.name}; }

std::unique_ptr<ZoneTransport> make_transport(Engine& engine, const ZoneSettings& settings, http::Router& router) {
    // To the zone itself: when its own work is done.
    const auto call_self = [&router, strand = engine.strand](http::Call call, http::Respond respond) {
        boost::asio::post(strand, [&router, call = std::move(call), respond = std::move(respond)]() mutable {
            router.dispatch(std::move(call), std::move(respond));
        });
    };
    const Caller self = self_of(settings.zone);
    return http::make_rest_transport(
        {.client = std::make_unique<cpprest::HttpCaller>(
             cpprest::HttpCallerOptions{.self = self,
                                        .local_token = {},
                                        .tls = engine.credentials.client,
                                        .max_reply_bytes = limits::kMaxReplyBytes,
                                        .allow_private_addresses = settings.allow_private_addresses}),
         .self = self,
         .post = [strand = engine.strand](std::function<void()> work) { boost::asio::post(strand, std::move(work)); },
         .own = call_self});
}

EntrySigning signing_of(const Engine& engine) {
    return {.sign = [&engine](const ZoneEntry& entry) { return codec::sign_entry(*engine.credentials.keys, entry); },
            .verify = [&engine](const SignedText& text) { return codec::verify_entry(engine.trust, text); }};
}

Result<void> check_delegation(const DelegationService& delegations, const PartRequest& part, bool required) {
    if (!part.delegation && !required) return {};
    if (!part.delegation)
        return Error{ErrorCode::kDenied,
                     "this zone wants to see the user's delegation; submit with 'zbs run' or 'zbs submit', which "
                     "sign one",
                     "/delegation"};
    const Result<DelegationInfo> good = delegations.check(part, *part.delegation);
    if (!good) return good.error();
    return {};
}

}  // namespace

Result<void> prepare(Engine& engine, const StateFolder& state, ZoneSettings& settings) {
    if (auto named = name_grid_users(engine.trust, {}, settings.grid_users); !named) return named;
    const openssl::Now now = [&clock = engine.clock] { return clock.now(); };
    Result<Credentials> credentials = load_credentials(state, settings, engine.trust, now, engine.secrets);
    if (!credentials) return credentials.error();
    engine.credentials = *std::move(credentials);
    return read_registry(state, settings.zone, engine.trust);
}

ZoneParts::ZoneParts(Engine& engine, Storage& storage, ZoneSettings& settings, const StateFolder& state)
    : transport(make_transport(engine, settings, router)),
      peerings(settings.zone, engine.clock, *storage.database.site, engine.trust, *storage.log),
      filter(settings.zone, engine.clock, *storage.database.site, peerings),
      parts(settings.zone, engine.clock, *storage.database.zone, *storage.executor, peerings, filter, *storage.log,
            decode_model_text),
      peers(settings.zone, engine.clock, *storage.database.zone, *transport, engine.credentials.keys.get(),
            engine.trust, peerings, *storage.log),
      registry(settings.zone, engine.clock, *transport, engine.trust, signing_of(engine), *storage.log,
               [this](const std::vector<ZoneEntry>& entries) { peers.found(entries); }),
      membership(settings.zone, engine.clock, *storage.database.site, engine.credentials.keys.get(), engine.trust,
                 engine.secrets, *storage.log),
      delegations(settings.zone, engine.clock, *storage.database.site, engine.credentials.keys.get(), engine.trust,
                  *storage.log),
      exchange(engine.clock, *transport, membership, *storage.log,
               [this] {
                   std::vector<ServiceAddress> known;
                   for (const Peer& peer : peers.peers()) known.push_back(address_of(peer));
                   return known;
               }),
      applications(settings.zone, engine.clock, engine.ids, *storage.database.zone, *storage.executor, *transport,
                   peers, *storage.log),
      services{settings.zone, applications,           parts,          peers,          peerings, membership, delegations,
               registry,      *storage.database.zone, *storage.audit, zone_contract()},
      decisions(engine.clock, *storage.audit, *storage.log, to_uri(self_of(settings.zone))),
      gate(services, decisions) {
    registry.on_enrolled([&state] { forget_registry_code(state); });
    applications.use_delegations(delegations);
    parts.require_delegations(
        [this](const PartRequest& part, bool required) { return check_delegation(delegations, part, required); });
    const auto is_blocked = [this](const Caller& subject) { return membership.is_blocked(subject); };
    filter.use_blocks(is_blocked);
    peerings.use_blocks(is_blocked);
    peerings.use_usage([this](const std::string& organisation) { return parts.usage_of(organisation); });
    applications.use_groups([this](const Caller& user) { return membership.groups_of(user); });
    connect_accounts(settings);
    connect_routes(engine, storage);
}

/// Who runs in which account.
void ZoneParts::connect_accounts(const ZoneSettings& settings) {
    const ZoneConfig& config = settings.zone;
    applications.use_accounts([this, &config](const Caller& user) -> Result<std::string> {
        if (!config.run_as_accounts) return std::string{};
        const Entitlement own = filter.find(
            {.home = self_of(config), .user = user, .groups = membership.groups_of(user), .walltime = {}, .usage = {}});
        if (!own.given)
            return Error{ErrorCode::kRejected, "this zone has no account for you; ask " + config.contact, {}};
        Result<std::string> account = filter.take_account(own, user);
        if (!account) return account;
        if (auto noted = filter.note_run(*account); !noted) return noted.error();
        return account;
    });
    peerings.use_accounts([this] { return filter.accounts(); });
    if (!config.run_as_accounts) return;
    peerings.use_host_accounts([minimum_uid = settings.minimum_uid](const std::string& account) {
        return check_account(account, minimum_uid);
    });
}

void ZoneParts::connect_routes(Engine& engine, Storage& storage) {
    router = make_zone_routes(services);
    router.on_exception([&log = *storage.log](const std::string& what) {
        log.warn("handler_threw", {{"what", what}});
    });
    router.guard([this](Action action, const http::Call& call) { return gate.check(action, call); });
    router.watch([this](Action action, const http::Call& call, int status) {
        decisions.done(action, call, status);
        if (status == 400 && http::changes_something(call) && call.caller().kind == CallerKind::kZone)
            peerings.note(call.caller().organisation, TrustEvent::kInvalidRequest);
    });
    router.name_calls([&ids = engine.ids] { return to_string(ids.fresh()); });
}

Result<void> ZoneParts::resume() {
    if (auto resumed = membership.resume(); !resumed) return resumed;
    if (auto resumed = peerings.resume(); !resumed) return resumed;
    if (auto resumed = filter.resume(); !resumed) return resumed;
    if (auto resumed = delegations.resume(); !resumed) return resumed;
    if (auto resumed = parts.resume(); !resumed) return resumed;
    if (auto resumed = peers.resume(); !resumed) return resumed;
    return applications.resume();
}

void ZoneParts::start() {
    decisions.start();
    exchange.start();
    registry.start();
}

}  // namespace zbs::zone_program
