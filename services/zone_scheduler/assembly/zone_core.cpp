#include "services/zone_scheduler/assembly/zone_core.hpp"

#include <utility>

#include "services/common/codec/json/json.hpp"
#include "services/common/codec/json/signed_entry.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/http/rest_transport.hpp"

namespace zbs {
namespace {

EntrySigning signing_of(const ZonePorts& ports) {
    return {.sign = [keys = ports.keys](const ZoneEntry& entry) { return codec::sign_entry(*keys, entry); },
            .verify = [&trust = ports.trust](const SignedText& text) { return codec::verify_entry(trust, text); }};
}

constexpr Duration kCheckAgents = std::chrono::seconds{1};

}  // namespace

ZoneCore::ZoneCore(const ZoneConfig& config, ZonePorts ports, std::string contract)
    : config_(config),
      ports_(std::move(ports)),
      metrics_(config, ports_.clock, ports_.resources),
      journal_(ports_.journal, ports_.clock, [this](Duration took) { metrics_.committed(took); }),
      client_(ports_.client, ports_.clock,
              [this](MeteredCall call) { ports_.post([this, call = std::move(call)] { metrics_.called(call); }); }),
      barrier_(ports_.clock, journal_, ports_.audit, ports_.storage_failed),
      events_(
          ports_.clock, ports_.store, ports_.log,
          [this](const StateEvent& event) {
              if (feed_.clients() > 0) barrier_.after_commit([this, event] { feed_.publish(event); });
          },
          [this](const StateEvent& event) { barrier_.after_commit([this, event] { feed_.interrupt(event); }); }),
      observers_(metrics_, events_),
      feed_(ports_.clock, events_,
            {.post = ports_.post,
             .after_commit = [this](std::function<void()> effect) { barrier_.after_commit(std::move(effect)); },
             .is_blocked = [this](const PeerIdentity& who) { return domain_.membership.is_blocked(who); }}),
      executor_(barrier_, ports_.executor),
      transport_(make_transport()),
      files_(config, ports_.depot),
      domain_(domain_ports()),
      registry_(
          config, ports_.clock, *transport_, ports_.trust, signing_of(ports), ports_.log,
          [this](const std::vector<ZoneEntry>& entries) { domain_.peers.found(entries); },
          [this] { domain_.peers.ask_known(); }, ports_.forget_registry_code),
      exchange_(
          ports_.clock, *transport_, domain_.membership, ports_.log, [this] { return known_zones(); },
          config.exchange_every),
      links_(
          config, ports_.clock, *transport_, [this] { return known_zones(); }, ports_.log),
      nodes_(config.agents, ports_.clock, ports_.log),
      node_links_(
          config, ports_.clock, [this] { return live_agents(); }, ports_.probe_node, ports_.log),
      output_(domain_.applications, executor_),
      retention_(config, ports_.clock, ports_.store, ports_.store, ports_.store, executor_, &files_, ports_.log),
      services_{config,
                domain_.applications,
                output_,
                domain_.parts,
                domain_.peers,
                domain_.peerings,
                domain_.membership,
                domain_.delegations,
                registry_,
                links_,
                node_links_,
                nodes_,
                files_,
                events_,
                feed_,
                ports_.ids,
                ports_.store,
                ports_.audit,
                traces_,
                std::move(contract),
                [this](metrics::TextFormat format) { return metrics_.text(format, services_); }},
      decisions_(ports_.clock, ports_.audit, ports_.log, to_uri(config.self()), [this] { barrier_.await_record(); }),
      gate_(services_, decisions_),
      router_(make_zone_routes(services_, router_hooks())) {}

void ZoneCore::serve(http::Call call, http::Respond respond) {
    router_.dispatch(std::move(call), [this, respond = std::move(respond)](http::Reply reply) {
        barrier_.after_commit([respond, reply = std::move(reply)]() mutable { respond(std::move(reply)); });
    });
}

/// Calls to other zones and to the registry; those to this zone take its own routes.
std::unique_ptr<ZoneTransport> ZoneCore::make_transport() {
    return http::make_rest_transport(
        {.client = std::make_unique<DurableClient>(barrier_, client_),
         .self = config_.self(),
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
                 domain_.peerings.record(who.organisation, TrustEvent::kFailedCheck);
             },
         .cut_answer =
             [this](const Caller& who, const Error& what) {
                 ports_.log.warn("cut_answer", {{"zone", to_uri(who)}, {"reason", what.message}});
                 domain_.peerings.record(who.organisation, TrustEvent::kCutAnswer);
             },
         .now = [this] { return ports_.clock.now(); },
         .clock_seen =
             [this](const Caller& who, Duration ahead) {
                 if (who == config_.registry.who) return registry_.record_clock(ahead);
                 domain_.peers.record_clock(who, ahead);
             }});
}

DomainPorts ZoneCore::domain_ports() {
    DomainPorts made{.config = config_,
                     .clock = ports_.clock,
                     .background = ports_.background,
                     .ids = ports_.ids,
                     .store = ports_.store,
                     .site = ports_.site,
                     .executor = executor_,
                     .transport = *transport_,
                     .trust = ports_.trust,
                     .keys = ports_.keys,
                     .secrets = ports_.secrets,
                     .log = ports_.log,
                     .files = files_,
                     .drains = [this] { return registry_.draining(); },
                     .observer = observers_,
                     .queue_observer_of = std::move(ports_.queue_observer_of),
                     .part_observer = std::move(ports_.part_observer),
                     .application_observer = std::move(ports_.application_observer),
                     .check_address = std::move(ports_.check_address),
                     .check_account = std::move(ports_.check_account),
                     .program_digest = std::move(ports_.program_digest),
                     .link_to = [this](const ZoneName& zone) { return links_.link_to(zone); },
                     .link_within = [this] { return node_links_.within_zone(); }};
    if (ports_.allocations != nullptr) made.allocations = &allocations_.emplace(barrier_, *ports_.allocations);
    if (config_.agents.empty()) return made;
    made.slices = ports_.slices;
    made.machines = [this](auto done) { done(nodes_.uses_of(config_.zone.machines)); };
    made.machines_every = kCheckAgents;
    return made;
}

/// Checks, names and records the calls that the routes get.
http::RouterHooks ZoneCore::router_hooks() {
    return {
        .guard = [this](Action action, const http::Call& call) { return gate_.check(action, call); },
        .watch =
            [this](Action action, const http::Call& call, int status) {
                decisions_.done(action, call, status);
                metrics_.answered(action, status);
                if (status == 400 && http::changes_something(action, call) && call.caller().kind == CallerKind::kZone)
                    domain_.peerings.record(call.caller().organisation, TrustEvent::kInvalidRequest);
            },
        .fresh_id = [this] { return to_string(ports_.ids.fresh(config_.self())); },
        .on_exception =
            [this](const std::string& what) {
                ports_.log.warn("handler_threw", {{"what", what}});
            }};
}

Result<void> ZoneCore::resume() {
    if (auto resumed = events_.resume(); !resumed) return resumed;
    return domain_.resume();
}

void ZoneCore::start() {
    barrier_.start();
    exchange_.start();
    links_.start();
    if (ports_.probe_node) node_links_.start();
    domain_.parts.start();
    registry_.start();
    retention_.start();
    feed_.start();
    services_.serves = true;
}

void ZoneCore::leave() {
    services_.serves = false;
    feed_.end_all();
    registry_.leave();
    domain_.peerings.flush();
}

std::vector<ServiceAddress> ZoneCore::known_zones() const {
    std::vector<ServiceAddress> known;
    for (const Peer& peer : domain_.peers.peers()) {
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

}  // namespace zbs
