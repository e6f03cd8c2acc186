#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/zone_store.hpp"
#include "services/common/ports/transport/trust_transport.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/trust/peering_service.hpp"

namespace zbs {

/// Who takes our users: finds zones through the registry, and asks those whose organisation's bundle is believed here
/// to accept this one's users, again every 30 s (5 s while an operator there has to decide). Peers are stored, so a
/// registry that is down stops nothing but the finding of new ones. (Whose users we take: `PeeringService`.)
class PeerService {
  public:
    /// `keys` may be null: without TLS only zones of the own organisation are asked.
    PeerService(const ZoneConfig& config, Clock& clock, PeerStore& store, TrustTransport& transport,
                const OwnKeys* keys, const TrustBundles& trust, PeeringService& peerings, Log& log);
    Result<void> resume();  ///< loads known peers, then starts to enrol and to look around
    /// Takes the registry's list, after every request. A name means one zone: an entry that gives this zone's, or a
    /// known peer's, to another organisation is ignored and logged once, until the peer's organisation is removed.
    void found(const std::vector<ZoneEntry>& entries);
    /// Asks the known peers again while the registry lists none, so that their states stay true.
    void ask_known();

    /// An operator wants this organisation asked: believes `bundle`, or (empty) the one that the registry shows for its
    /// zones, if it has that fingerprint. Asks at once and at every look. Errors: kNotFound where the registry lists
    /// none; kInvalidArgument where the fingerprint is missing or another; kConflict where another is believed.
    Result<void> ask_organisation(const OrganisationName& organisation, const std::string& fingerprint,
                                  const std::string& bundle);
    /// A call to this zone was refused, or had no answer: one that is on record as accepting is asked whether it still
    /// does, at most every 5 s.
    void recheck(const ZoneName& zone);
    /// Organisations to ask as `ask_organisation` does, without an operator, each once its zones are listed. One that
    /// is believed already is asked anyway. A request that fails is logged once and tried again after every list.
    void set_asks(const std::vector<AskedOrganisation>& asks);
    /// Zones that were asked or have an accepted peering, with both directions and the condition of each.
    std::vector<Peer> peers() const;
    /// Of one of those; none where the zone is not known. O(log zones), for a peer.
    std::optional<ServiceAddress> address_of(const ZoneName& zone) const;
    /// Names of those, and of the zones that the registry listed last.
    std::set<ZoneName> zone_names() const;
    /// Whether the registry has listed its zones since this scheduler began.
    bool has_listing() const { return listed_at_.has_value(); }
    /// By how much a zone's clock is ahead, found with one of its answers; zero: no difference is proved.
    void record_clock(const Caller& zone, Duration ahead);
    /// As the registry listed it last. A zone that is not active finishes what it has and takes nothing new.
    ZoneStanding standing(const ZoneName& zone) const {
        const auto at = resting_.find(zone);
        return at == resting_.end() ? ZoneStanding::kActive : at->second.standing;
    }

  private:
    /// The end of the last attempt to ask a zone.
    struct Attempt {
        ServiceAddress to;
        Duration at{};  ///< steady time
        std::optional<Error> fault{};
    };
    struct Resting {
        ZoneStanding standing;
        Duration since{};  ///< steady time of the first look that found it so
    };
    Duration clock_ahead(const Caller& zone) const;
    PeerCondition condition_of(const Peer& peer) const;
    Result<void> believe(const AskedOrganisation& wish);
    void settle_asks();
    bool is_believed(const OrganisationName& organisation) const;
    std::optional<OrganisationName> holder_of(const ZoneName& name) const;
    bool may_have_name(const ZoneEntry& entry);
    const ZoneEntry* entry_of(const ZoneName& zone, const OrganisationName& organisation) const;
    void ask(const ZoneEntry& entry);
    void save(const Peer& peer);

    const ZoneConfig& config_;
    Clock& clock_;
    PeerStore& store_;
    TrustTransport& transport_;
    const OwnKeys* keys_;
    const TrustBundles& trust_;
    PeeringService& peerings_;
    Log& log_;
    std::map<ZoneName, Peer> peers_;
    std::map<ZoneName, Duration> asked_;            ///< steady time of the last request, by zone
    std::map<ZoneName, Attempt> attempts_;          ///< by zone
    std::map<std::string, Duration> clocks_ahead_;  ///< by name as a URI: of clocks that differ
    std::vector<ZoneEntry> listed_;                 ///< by the registry, at the last look; by name, then organisation
    std::optional<Duration> listed_at_;             ///< steady time of that look
    std::map<ZoneName, Resting> resting_;           ///< the zones that are not active
    std::set<std::pair<ZoneName, OrganisationName>>
        clash_logged_;                     ///< zone's name and the organisation that it is not of
    std::vector<AskedOrganisation> asks_;  ///< not believed yet
    std::map<OrganisationName, std::string>
        ask_logged_;  ///< by organisation: why it could not be asked, as the log has it
};

}  // namespace zbs
