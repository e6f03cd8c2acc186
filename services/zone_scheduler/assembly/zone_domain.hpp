#pragma once
#include <functional>

#include "services/common/ports/storage/site_store.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/home/application_service.hpp"
#include "services/zone_scheduler/peer/partitions.hpp"
#include "services/zone_scheduler/trust/delegation_service.hpp"
#include "services/zone_scheduler/trust/membership_service.hpp"
#include "services/zone_scheduler/trust/peer_service.hpp"
#include "services/zone_scheduler/trust/peering_service.hpp"

namespace zbs {

/// What the domain of a zone stands on. All of it must outlive the domain. A function that is left out: as where there
/// is nothing of the kind.
struct DomainPorts {
    const ZoneConfig& config;
    Clock& clock;
    BackgroundWork& background;
    IdSource& ids;
    ZoneStore& store;
    SiteStore& site;
    Executor& executor;
    ZoneTransport& transport;
    TrustBundles& trust;
    const OwnKeys* keys;  ///< null: a zone without certificates, alone on loopback
    Secrets& secrets;
    Log& log;
    FileLibrary& files;
    std::function<bool()> drains;  ///< whether the zone takes no new work now
    ZoneObserver& observer = no_observer();
    ZoneQueue::Observer queue_observer{};
    std::function<ZoneQueue::Observer(const std::string& partition)> queue_observer_of{};  ///< as `PartPorts`
    part::Observer part_observer{};
    ApplicationObserver application_observer{};
    Allocations* allocations = nullptr;  ///< of the site's own scheduler; null: the machines are the zone's own
    SliceSink* slices = nullptr;         ///< where parts take turns; null: they do not
    MachineUsageSource machines{};       ///< what machines have for parts; empty: as configured
    Duration machines_every{};
    std::function<Result<void>(const std::string& host)> check_address{};
    std::function<Result<void>(const AccountName&)> check_account{};  ///< of the host, as `PeeringPorts`
    ProfileLibrary::DigestOf program_digest{};                        ///< empty: programs are known by their paths
    std::function<Link(const ZoneName& zone)> link_to{};              ///< measured; empty: as configured
    std::function<Link()> link_within{};
    /// Receives what homes note of the conduct of others, once `peerings` has it.
    std::function<void(const OrganisationName&, TrustEvent)> conduct_noted{};
};

/// The rooms of a zone that decide (trust, peer, home), wired to each other: without routes, sockets, sensors and
/// commits. The zone of the program, the one of the simulated world, and the one of the unit tests are made here.
/// Lives on the domain's strand.
class ZoneDomain {
    DomainPorts ports_;  // the rooms below are made from it

  public:
    explicit ZoneDomain(DomainPorts ports);
    ZoneDomain(const ZoneDomain&) = delete;
    ZoneDomain& operator=(const ZoneDomain&) = delete;
    /// Takes up what the stores hold, in the order in which the rooms need each other. Errors: the stores'.
    Result<void> resume();

    PeeringService peerings;
    AuthorizationFilter filter;
    PeerService peers;
    MembershipService membership;
    DelegationService delegations;
    Partitions parts;
    ApplicationService applications;

  private:
    Result<AccountName> own_account(const Caller& user);
    Result<void> check_delegation(const PartRequest& part, bool required) const;
    PeeringPorts peering_ports();
    PartPorts part_ports();
    ApplicationPorts application_ports();
};

}  // namespace zbs
