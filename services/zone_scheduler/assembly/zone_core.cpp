#include "services/zone_scheduler/assembly/zone_core.hpp"

#include <algorithm>
#include <utility>

#include "services/common/codec/json/json.hpp"
#include "services/common/codec/json/signed_entry.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/http/rest_transport.hpp"

namespace zbs {
namespace {

Result<ApplicationModel> decode_model_text(std::string_view text) {
    const auto json = codec::parse(text);
    if (!json) return json.error();
    return codec::decode_model(*json);
}

EntrySigning signing_of(const ZonePorts& ports) {
    return {.sign = [keys = ports.keys](const ZoneEntry& entry) { return codec::sign_entry(*keys, entry); },
            .verify = [&trust = ports.trust](const SignedText& text) { return codec::verify_entry(trust, text); }};
}

constexpr Duration kCheckAgents = std::chrono::seconds{1};

Caller self_of(const ZoneConfig& config) { return {CallerKind::kZone, config.organisation, config.zone.name}; }

}  // namespace

ZoneCore::ZoneCore(const ZoneConfig& config, ZonePorts ports, std::string contract)
    : config_(config),
      ports_(std::move(ports)),
      metrics_(config, ports_.clock, ports_.resources),
      journal_(ports_.journal, ports_.clock, [this](Duration took) { metrics_.committed(took); }),
      client_(ports_.client, ports_.clock,
              [this](MeteredCall call) { ports_.post([this, call = std::move(call)] { metrics_.called(call); }); }),
      barrier_(ports_.clock, journal_, ports_.audit, ports_.storage_failed),
      events_(ports_.clock, ports_.store, ports_.log),
      observers_(metrics_, events_),
      feed_(ports_.clock, events_,
            {.post = ports_.post,
             .after_commit = [this](std::function<void()> effect) { barrier_.after_commit(std::move(effect)); },
             .is_blocked = [this](const PeerIdentity& who) { return membership_.is_blocked(who); }}),
      executor_(barrier_, ports_.executor),
      transport_(make_transport()),
      peerings_(config, ports_.clock, ports_.site, ports_.trust, ports_.log),
      filter_(config, ports_.clock, ports_.site, peerings_),
      peers_(config, ports_.clock, ports_.store, *transport_, ports_.keys, ports_.trust, peerings_, ports_.log),
      registry_(
          config, ports_.clock, *transport_, ports_.trust, signing_of(ports), ports_.log,
          [this](const std::vector<ZoneEntry>& entries) { peers_.found(entries); }, [this] { peers_.ask_known(); }),
      membership_(config, ports_.clock, ports_.site, ports_.keys, ports_.trust, ports_.secrets, ports_.log),
      delegations_(config, ports_.clock, ports_.site, ports_.keys, ports_.trust, ports_.log),
      exchange_(
          ports_.clock, *transport_, membership_, ports_.log, [this] { return known_zones(); }, config.exchange_every),
      links_(
          config, ports_.clock, *transport_, [this] { return known_zones(); }, ports_.log),
      nodes_(ports_.clock, ports_.log),
      node_links_(
          config, ports_.clock, [this] { return live_agents(); }, ports_.probe_node, ports_.log),
      files_(config, ports_.depot),
      parts_(part_ports()),
      applications_(application_ports()),
      output_(applications_, executor_),
      retention_(config, ports_.clock, ports_.store, ports_.store, ports_.store, executor_, ports_.log),
      services_{config,      applications_, output_,      parts_,    peers_,
                peerings_,   membership_,   delegations_, registry_, links_,
                node_links_, nodes_,        files_,       events_,   feed_,
                ports_.ids,  ports_.store,  ports_.audit, traces_,   std::move(contract)},
      decisions_(ports_.clock, ports_.audit, ports_.log, to_uri(self_of(config))),
      gate_(services_, decisions_),
      router_(make_zone_routes(services_)) {
    connect();
}

void ZoneCore::serve(http::Call call, http::Respond respond) {
    router_.dispatch(std::move(call), [this, respond = std::move(respond)](http::Reply reply) {
        barrier_.after_commit([respond, reply = std::move(reply)]() mutable { respond(std::move(reply)); });
    });
}

/// Calls to other zones and to the registry; those to this zone take its own routes.
std::unique_ptr<ZoneTransport> ZoneCore::make_transport() {
    return http::make_rest_transport(
        {.client = std::make_unique<DurableClient>(barrier_, client_),
         .self = self_of(config_),
         .post = ports_.post,
         .own =
             [this](http::Call call, http::Respond respond) {
                 ports_.clock.after(Duration{0},
                                    [this, call = std::move(call), respond = std::move(respond)]() mutable {
                                        router_.dispatch(std::move(call), std::move(respond));
                                    });
             },
         .traces = &traces_,
         .bad_answer =
             [this](const Caller& who, const Error& what) {
                 ports_.log.warn("bad_answer", {{"zone", to_uri(who)}, {"reason", what.message}});
                 peerings_.record(who.organisation, TrustEvent::kFailedCheck);
             },
         .cut_answer =
             [this](const Caller& who, const Error& what) {
                 ports_.log.warn("cut_answer", {{"zone", to_uri(who)}, {"reason", what.message}});
                 peerings_.record(who.organisation, TrustEvent::kCutAnswer);
             },
         .now = [this] { return ports_.clock.now(); },
         .clock_seen =
             [this](const Caller& who, Duration ahead) {
                 if (who == config_.registry.who) return registry_.record_clock(ahead);
                 peers_.record_clock(who, ahead);
             }});
}

/// What the zone as a peer works with.
PartPorts ZoneCore::part_ports() {
    PartPorts parts{
        .config = config_,
        .clock = ports_.clock,
        .store = ports_.store,
        .executor = executor_,
        .peerings = peerings_,
        .filter = filter_,
        .log = ports_.log,
        .decode = decode_model_text,
        .observer = observers_,
        .queue_observer = std::move(ports_.queue_observer),
        .part_observer = std::move(ports_.part_observer),
        .files = &files_,
        .check_delegation = [this](const PartRequest& part, bool required) { return check_delegation(part, required); },
        .link_to = [this](const ZoneName& zone) { return links_.link_to(zone); },
        .link_within = [this] { return node_links_.within_zone(); },
        .is_blocked = [this](const Caller& subject) { return membership_.is_blocked(subject); },
        .drains = [this] { return registry_.draining(); }};
    if (ports_.check_address) parts.check_address = std::move(ports_.check_address);
    if (ports_.allocations != nullptr) parts.allocations = &allocations_.emplace(barrier_, *ports_.allocations);
    if (config_.agents.empty()) return parts;
    parts.slices = ports_.slices;
    parts.machines = [this](auto done) { done(nodes_.uses_of(config_.zone.machines)); };
    parts.machines_every = kCheckAgents;
    return parts;
}

/// What the zone as a home works with.
ApplicationPorts ZoneCore::application_ports() {
    return {.config = config_,
            .clock = ports_.clock,
            .background = ports_.background,
            .ids = ports_.ids,
            .store = ports_.store,
            .executor = executor_,
            .transport = *transport_,
            .peers = peers_,
            .log = ports_.log,
            .observer = observers_,
            .delegations = &delegations_,
            .files = &files_,
            .account_of = [this](const Caller& user) { return own_account(user); },
            .groups_of = [this](const Caller& user) { return membership_.groups_of(user); },
            .is_blocked = [this](const Caller& subject) { return membership_.is_blocked(subject); },
            .drains = [this] { return registry_.draining(); },
            .is_doubtful = [this](const OrganisationName& organisation) { return is_doubtful(organisation); },
            .record_reputation = [this](const OrganisationName& organisation,
                                        TrustEvent event) { peerings_.record(organisation, event); }};
}

/// What the services ask of each other.
void ZoneCore::connect() {
    decisions_.commit_later([this] { barrier_.await_record(); });
    events_.listen([this](const StateEvent& event) {
        if (feed_.clients() > 0) barrier_.after_commit([this, event] { feed_.publish(event); });
    });
    events_.listen_for_lost(
        [this](const StateEvent& event) { barrier_.after_commit([this, event] { feed_.interrupt(event); }); });
    services_.metrics_text = [this](metrics::TextFormat format) { return metrics_.text(format, services_); };
    retention_.use_files(files_);
    if (!config_.agents.empty()) nodes_.use(config_.agents);
    filter_.use_blocks([this](const Caller& subject) { return membership_.is_blocked(subject); });
    peerings_.use_blocks([this](const Caller& subject) { return membership_.is_blocked(subject); });
    peerings_.use_accounts([this] { return filter_.accounts(); });
    peerings_.use_usage([this](const OrganisationName& organisation) { return parts_.table().usage_of(organisation); });
    router_.on_exception([this](const std::string& what) { ports_.log.warn("handler_threw", {{"what", what}}); });
    router_.guard([this](Action action, const http::Call& call) { return gate_.check(action, call); });
    router_.watch([this](Action action, const http::Call& call, int status) {
        decisions_.done(action, call, status);
        metrics_.answered(action, status);
        if (status == 400 && http::changes_something(action, call) && call.caller().kind == CallerKind::kZone)
            peerings_.record(call.caller().organisation, TrustEvent::kInvalidRequest);
    });
    router_.name_calls([this] { return to_string(ports_.ids.fresh(self_of(config_))); });
}

Result<void> ZoneCore::resume() {
    if (auto resumed = events_.resume(); !resumed) return resumed;
    if (auto resumed = membership_.resume(); !resumed) return resumed;
    if (auto resumed = peerings_.resume(); !resumed) return resumed;
    if (auto resumed = filter_.resume(); !resumed) return resumed;
    if (auto resumed = delegations_.resume(); !resumed) return resumed;
    if (auto set = parts_.use_queue(config_.queue); !set) return set;
    if (auto resumed = parts_.resume(); !resumed) return resumed;
    if (auto resumed = peers_.resume(); !resumed) return resumed;
    return applications_.resume();
}

void ZoneCore::start() {
    barrier_.start();
    exchange_.start();
    links_.start();
    if (ports_.probe_node) node_links_.start();
    parts_.start();
    registry_.start();
    retention_.start();
    feed_.start();
    services_.serves = true;
}

void ZoneCore::leave() {
    services_.serves = false;
    feed_.end_all();
    registry_.leave();
    peerings_.flush();
}

std::vector<ServiceAddress> ZoneCore::known_zones() const {
    std::vector<ServiceAddress> known;
    for (const Peer& peer : peers_.peers()) {
        if (peer.last_heard > Time{}) known.push_back(address_of(peer));
    }
    return known;
}

/// Of the zone's machines; others may have registered, too.
std::vector<NodeLinkSensor::Agent> ZoneCore::live_agents() const {
    std::vector<NodeLinkSensor::Agent> live;
    for (const MachineName& name : config_.agents)
        if (nodes_.is_live(name)) live.push_back({name, nodes_.find(name)->url});
    return live;
}

Result<void> ZoneCore::commit() {
    if (auto done = barrier_.commit_now(); !done) return done;
    if (auto done = ports_.audit.flush(); !done) return done;
    return barrier_.commit_now();
}

/// The local account that an own user's launcher runs as.
Result<AccountName> ZoneCore::own_account(const Caller& user) {
    if (!config_.run_as_accounts) return AccountName{};
    const Entitlement own = filter_.find(
        {.home = self_of(config_), .user = user, .groups = membership_.groups_of(user), .walltime = {}, .usage = {}});
    if (!own.given) return Error{ErrorCode::kRejected, "this zone has no account for you; ask " + config_.contact, {}};
    Result<AccountName> account = filter_.take_account(own, user);
    if (!account) return account;
    if (auto noted = filter_.record_run(*account); !noted) return noted.error();
    return account;
}

/// Whether less than half is left of the trust that it began with.
bool ZoneCore::is_doubtful(const OrganisationName& organisation) const {
    return std::ranges::any_of(peerings_.views(organisation), [](const PeeringService::View& view) {
        return view.trust.score < view.trust.initial / 2;
    });
}

Result<void> ZoneCore::check_delegation(const PartRequest& part, bool required) {
    if (!part.delegation && !required) return {};
    if (!part.delegation)
        return Error{ErrorCode::kDenied,
                     "this zone wants to see the user's delegation; submit with 'zbs run' or 'zbs submit', which "
                     "sign one",
                     "/delegation"};
    const Result<DelegationInfo> good = delegations_.check(part, *part.delegation);
    if (!good) return good.error();
    return {};
}

}  // namespace zbs
