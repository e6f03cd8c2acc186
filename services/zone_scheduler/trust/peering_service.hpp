#pragma once
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/common/messages/peering.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/site_store.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/trust/site_policy/site_names.hpp"
#include "services/zone_scheduler/trust/site_policy/trust_score.hpp"

namespace zbs {

/// What peerings ask of the rest of the zone. A function that is left out: as where there is nothing of the kind.
struct PeeringPorts {
    std::function<bool(const Caller&)> is_blocked = [](const Caller&) { return false; };  ///< they get no answer
    /// The account map of this moment, null for none; empty: the configuration's.
    std::function<const AccountMap*()> accounts{};
    /// Whether jobs may run as an account of this host; empty: not asked.
    std::function<Result<void>(const AccountName&)> check_account{};
    /// What an organisation has here now.
    std::function<PeeringUsage(const OrganisationName&)> usage = [](const OrganisationName&) { return PeeringUsage{}; };
};

/// Whose users this zone takes, and how many of them: one record per organisation, settled by the operator or by a
/// rule, with a degree of trust that its own behaviour moves. Zones of the own organisation need no record and have no
/// limits. (Who takes our users: `PeerService`.) Lives on the domain's strand; every answer is stored first.
class PeeringService {
  public:
    static constexpr Duration kSaveEvery = std::chrono::seconds{5};
    static constexpr std::size_t kLastEvents = 16;

    PeeringService(const ZoneConfig& config, Clock& clock, SiteStore& store, TrustBundles& trust, Log& log,
                   PeeringPorts ports = {});
    Result<void> resume();
    /// Other rules from now on; who was accepted stays so.
    void set_rules(std::vector<AutomaticRule> rules);

    /// A zone asks that its users be taken. `caller` is what its connection proved: the zone itself, or nobody while
    /// its organisation is unknown here. An unknown one leaves a pending record, no more. Errors: kUnauthenticated;
    /// kDenied where signature or name do not fit; kConflict for names that are taken.
    Result<PeeringAnswer> request(const Caller& caller, const PeeringRequest& request);

    /// What an operator wants (all verbs but `ask`). Rights hold from the next part on; what runs is not touched.
    /// Errors: kNotFound; kConflict where the state does not allow it, or several bundles claim the name and none was
    /// chosen; kInvalidArgument with the field's pointer, also for a bundle of another organisation and for rights that
    /// name a partition, a pool or an account which is not there.
    Result<PeeringRecord> change(const OrganisationName& organisation, const PeeringChange& change, const Caller& by);
    /// Forgets the organisation, also as one to ask. Errors: kNotFound; kConflict while parts of it are here.
    Result<void> remove(const OrganisationName& organisation);
    /// Believes this bundle as the organisation's, without any right here. Errors: kConflict where another is believed;
    /// kInvalidArgument for a bundle of another organisation.
    Result<void> believe(const OrganisationName& organisation, const std::string& bundle);
    /// What an operator should know of what was settled with an organisation and would not see: that its bundle is
    /// bound to no organisation, that nobody of it has an account, that another uses its pool, too. Each one sentence
    /// with its remedy.
    std::vector<std::string> notes(const OrganisationName& organisation) const;

    /// True for zones of the own organisation and of those that are accepted.
    bool accepts(const Caller& zone) const;
    /// How it stands with an organisation; none where it never asked. The own one: accepted.
    std::optional<PeeringState> state_of(const OrganisationName& organisation) const;
    /// Rights at the trust of this moment; none unless accepted. Not for the own organisation.
    std::optional<PeeringRights> rights_now(const OrganisationName& organisation) const;
    /// Remembers what a proven peer did, or one whose bundle is believed since this zone asks it: that one until the
    /// next start only. Others are ignored.
    void record(const OrganisationName& organisation, TrustEvent event);
    /// Whether less than half is left of the trust that it began with.
    bool is_doubtful(const OrganisationName& organisation) const;
    /// Writes down what was noted; else it is done every few seconds.
    void flush();

    struct Event {
        Time at{};
        TrustEvent what{};
    };
    struct View {
        PeeringRecord record;
        TrustScore trust;
        PeeringRights now;
        PeeringUsage usage;
        std::vector<Event> last;  ///< since this zone's start, oldest first, at most `kLastEvents`
    };
    struct KnownZone {
        OrganisationName organisation;
        PeerZone zone;
    };
    /// Zones of accepted organisations that asked.
    std::vector<KnownZone> accepted_zones() const;
    std::optional<KnownZone> find_accepted(const ZoneName& zone) const;   ///< the first of those by that name
    std::vector<View> views() const;                                      ///< by organisation and fingerprint
    std::vector<View> views(const OrganisationName& organisation) const;  ///< several while bundles compete

  private:
    using Records = std::map<std::string, PeeringRecord>;  // by key_of

    PeeringRecord* settled(const OrganisationName& organisation);
    const PeeringRecord* settled(const OrganisationName& organisation) const;
    std::vector<std::string> keys_of(const OrganisationName& organisation) const;
    const AutomaticRule* rule_for(const OrganisationName& organisation, const std::string& fingerprint) const;
    Result<std::string> check_bundle(const OrganisationName& organisation, const std::string& bundle) const;
    SiteNames site_names() const;
    std::vector<std::string> bundle_notes(const OrganisationName& organisation) const;
    std::string pool_note(const OrganisationName& organisation, const std::string& pool) const;
    Result<void> save(const PeeringRecord& record);
    Result<void> pin(const PeeringRecord& record);
    Result<void> make_room();
    Result<void> take_seat(PeeringRecord accepted);
    PeeringAnswer answer_of(const PeeringRecord& record) const;
    Result<PeeringRecord*> choose(const OrganisationName& organisation, const PeeringChange& change);
    View view_of(const PeeringRecord& record) const;
    void save_later();

    const ZoneConfig& config_;
    Clock& clock_;
    SiteStore& store_;
    TrustBundles& trust_;
    Log& log_;
    PeeringPorts ports_;
    std::vector<AutomaticRule> rules_;
    Records records_;
    std::map<std::string, std::deque<Event>> last_;
    std::map<OrganisationName, TrustHistory> conduct_of_asked_;  ///< of organisations without a record
    std::map<std::string, bool> unsaved_;  ///< keys of records whose history is ahead of the store
    bool saving_ = false;
};

}  // namespace zbs
