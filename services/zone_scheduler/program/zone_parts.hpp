#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <memory>

#include "services/common/adapters/openssl/random_secrets.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/http/decision_log.hpp"
#include "services/common/http/router.hpp"
#include "services/common/ports/zone_transport.hpp"
#include "services/zone_scheduler/domain/trust_exchange.hpp"
#include "services/zone_scheduler/http/gate.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"
#include "services/zone_scheduler/program/credentials.hpp"
#include "services/zone_scheduler/program/storage.hpp"

namespace zbs::zone_program {

/// What the zone's code runs on: the queue of its threads, the domain's strand, the clock; and whom it believes.
struct Engine {
    boost::asio::io_context io;
    system::Strand strand = boost::asio::make_strand(io);
    system::AsioClock clock{strand};
    system::SystemIds ids;
    openssl::RandomSecrets secrets;
    openssl::TrustStore trust{[this] { return clock.now(); }};
    Credentials credentials;
};
/// Loads the credentials, and makes grid users and the registry known (that into `settings`).
Result<void> prepare(Engine& engine, const StateFolder& state, ZoneSettings& settings);

/// The domain of one zone with its routes, every part knowing those it needs. Takes no call before somebody dispatches
/// one to `router`, on the strand; stays where it was made, because its parts refer to each other.
struct ZoneParts {
    ZoneParts(Engine& engine, Storage& storage, ZoneSettings& settings, const StateFolder& state);
    ZoneParts(const ZoneParts&) = delete;
    ZoneParts& operator=(const ZoneParts&) = delete;

    /// What was stored, back into memory, in the order in which the parts need each other.
    Result<void> resume();
    /// Begins what the zone does by itself; on the strand.
    void start();

    http::Router router;
    std::unique_ptr<ZoneTransport> transport;
    PeeringService peerings;
    AuthorizationFilter filter;
    PartService parts;
    PeerService peers;
    RegistrySession registry;
    MembershipService membership;
    DelegationService delegations;
    TrustExchange exchange;
    ApplicationService applications;
    ZoneServices services;
    http::DecisionLog decisions;
    ZoneGate gate;

  private:
    void connect_accounts(const ZoneSettings& settings);
    void connect_routes(Engine& engine, Storage& storage);
};

}  // namespace zbs::zone_program
