#pragma once
#include "services/common/codec/peering_codec.hpp"
#include "services/common/http/router.hpp"
#include "services/common/http/trace.hpp"
#include "services/common/metrics/metrics.hpp"
#include "services/common/ports/storage/audit.hpp"
#include "services/zone_scheduler/home/application_output.hpp"
#include "services/zone_scheduler/home/application_service.hpp"
#include "services/zone_scheduler/peer/partitions.hpp"
#include "services/zone_scheduler/records/event_log.hpp"
#include "services/zone_scheduler/records/file_library.hpp"
#include "services/zone_scheduler/records/registry_session.hpp"
#include "services/zone_scheduler/sensors/link_sensor.hpp"
#include "services/zone_scheduler/sensors/node_directory.hpp"
#include "services/zone_scheduler/sensors/node_link_sensor.hpp"
#include "services/zone_scheduler/trust/delegation_service.hpp"
#include "services/zone_scheduler/trust/membership_service.hpp"
#include "services/zone_scheduler/trust/peer_service.hpp"
#include "services/zone_scheduler/trust/peering_service.hpp"

namespace zbs {

class EventFeed;

/// What the handlers call. All of it lives on the domain's strand, and so do the handlers.
struct ZoneServices {
    const ZoneConfig& config;
    ApplicationService& applications;
    const ApplicationOutput& output;
    Partitions& parts;
    PeerService& peers;
    PeeringService& peerings;
    MembershipService& membership;
    DelegationService& delegations;
    RegistrySession& registry;
    const LinkSensor& links;
    const NodeLinkSensor& node_links;
    NodeDirectory& nodes;
    FileLibrary& files;
    EventLog& events;
    EventFeed& feed;
    IdSource& ids;
    ProfileStore& store;
    AuditLog& audit;
    http::TraceBook& traces;
    std::string contract;  ///< text of the OpenAPI document, schemas/openapi/zone
    /// All figures of the zone as text.
    std::function<std::string(metrics::TextFormat)> metrics_text{};
    bool serves = false;  ///< what the stores hold was taken up, and the zone is not about to end
};

/// Routes of schemas/openapi/zone. `services` must outlive the router.
http::Router make_zone_routes(ZoneServices& services, http::RouterHooks hooks);

/// Own users and the operator see the inside of the zone; nobody else. Errors: kUnauthenticated, kDenied.
Result<void> check_insider(const http::Request& request, const ZoneServices& services);

/// None if the zone has no registry.
std::optional<codec::RegistryStanding> registry_standing(const ZoneServices& services);

/// Those about links to other zones and between machines; part of `make_zone_routes`.
void add_link_routes(http::Router& router, ZoneServices& services);

/// Server-sent events; part of `make_zone_routes`.
void add_event_routes(http::Router& router, ZoneServices& services);

/// The zone's pages; part of `make_zone_routes`.
void add_dashboard_routes(http::Router& router, ZoneServices& services);

/// Those about staged files and results; part of `make_zone_routes`.
void add_staging_routes(http::Router& router, ZoneServices& services);

/// Those about users, trust and blocks; part of `make_zone_routes`.
void add_identity_routes(http::Router& router, ZoneServices& services);

/// Those about peerings; likewise.
void add_peering_routes(http::Router& router, ZoneServices& services);

/// Those about delegations; likewise.
void add_delegation_routes(http::Router& router, ZoneServices& services);

/// The assignment of a held (or later) application in one of the formats `json`, `rsl`, `hostfile`. Errors: kConflict
/// before there is one, kInvalidArgument for another format.
http::Reply assignment_reply(const Application& application, const ZoneServices& services, const std::string& format);

}  // namespace zbs
