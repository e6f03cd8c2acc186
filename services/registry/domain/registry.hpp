#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/names/join_token.hpp"
#include "services/common/ports/address_prover.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/site_store.hpp"
#include "services/common/ports/trust.hpp"

namespace zbs {

/// What the registry is, and where.
struct RegistryConfig {
    OrganisationName organisation;
    std::string name;
    std::string url;
    std::string bundle;  ///< PEM, of its organisation
};

/// White, yellow and green pages of zones, with leases on the monotonic clock. A zone comes in by an operator's token
/// with an entry that it signed itself, after it was found to answer at the address it gives; its organisation's bundle
/// is kept from then on, and no zone can come under that name with another one. Entries go out byte for byte as they
/// were signed: readers verify them, so the registry need not be believed.
///
/// An entry whose lease is not renewed vanishes. After a restart every entry gets its full lease again: time while the
/// registry was down counts against nobody.
class Registry {
  public:
    static constexpr Duration kMinLease = std::chrono::seconds{1};
    static constexpr Duration kMaxLease = std::chrono::seconds{300};
    static constexpr Duration kShownAfterLeaving = std::chrono::minutes{10};

    /// Reads and checks what a zone signed.
    using Verify = std::function<Result<ZoneEntry>(const SignedText&)>;
    template <class T>
    using Respond = std::function<void(Result<T>)>;

    Registry(const RegistryConfig& config, Clock& clock, RegistryStore& store, TrustBundles& trust, Secrets& secrets,
             AddressProver& prover, Verify verify, Log& log);
    Result<void> resume();

    struct Invitation {
        std::string token;
        Time expires{};
    };
    /// A token for one zone, of `organisation` or (empty) of any.
    Result<Invitation> invite(const OrganisationName& organisation, Duration lifetime);
    /// A zone comes in. The same zone with the same code again is good: the answer may have been lost. Errors: kDenied
    /// for every code that does not work; kConflict (name or bundle of somebody else); what the address prover says.
    void enrol(const std::string& code, const SignedText& entry, Respond<ZoneLease> respond);
    /// An enrolled zone's new entry; a new address is proved first. Errors: kDenied (of another zone), kConflict (older
    /// than the one that is here, another bundle, or the scheduler of the listed entry still serves at its address).
    void publish(const Caller& caller, const SignedText& entry, Respond<ZoneLease> respond);
    /// Errors: kNotFound (never there, or expired: publish again).
    Result<ZoneLease> renew(const ZoneName& zone);
    /// The zone says that it has gone: its last entry is shown for a while, then forgotten.
    Result<ZoneLease> leave(const ZoneName& zone);
    struct Enrolment {
        Caller zone;
        std::string url;    ///< empty where its last entry verifies no more
        bool live = false;  ///< in the list of zones now
        std::optional<RivalClaim> rival{};
        bool operator==(const Enrolment&) const = default;
    };
    /// All that may come here, by name.
    std::vector<Enrolment> enrolments() const;
    /// Organisations whose bundles are kept, by name.
    std::vector<OrganisationName> organisations() const;
    /// The operator takes a zone out: it is listed no more, gets no answer from now on, and the code that it came in by
    /// does not work again. Errors: kNotFound; the store's.
    Result<void> remove_zone(const ZoneName& zone);
    /// The operator has an organisation forgotten: its zones, its open tokens, and last its bundle. Gives the zones
    /// that went. After an error of the store some of it is done; a repeat does the rest. Errors: kNotFound; kConflict
    /// for the registry's own organisation.
    Result<std::vector<ZoneName>> remove_organisation(const OrganisationName& organisation);

    /// Live entries by name; filters where given. A page ends at the query's limit, at `kMaxZonesPerPage`, or before
    /// its texts are over `kMaxPageBytes`. A zone that comes or goes between two pages is in the list or not; no other
    /// is left out or listed twice. Cost: the entries examined.
    ZonePage list(const ZoneQuery& query) const;
    bool is_enrolled(const Caller& zone) const;
    /// Whose entry it is; none where there is none.
    std::optional<Caller> owner_of(const ZoneName& zone) const;

  private:
    struct LiveZone {
        SignedText text;
        ZoneEntry entry;
        Duration lease{};
        Duration until{};
        bool gone = false;  ///< left or ran out: not listed, but still enrolled
        std::optional<RivalClaim> rival{};
        Duration rival_at{};  ///< steady time of its last attempt
    };
    Result<void> forget_rights(const std::function<bool(const EnrolmentRight&)>& which);
    Result<ZoneLease> accept(const SignedText& text, const ZoneEntry& entry);
    bool is_live(const LiveZone& live) const;
    std::optional<RivalClaim> rival_of(const LiveZone& live) const;
    void record_rival(LiveZone& live, const ZoneEntry& entry);
    void settle(const SignedText& text, const ZoneEntry& entry, const std::function<Result<void>()>& check,
                const Respond<ZoneLease>& respond);
    Result<void> check_newer(const ZoneEntry& entry);
    Result<void> check_bundle(const ZoneEntry& entry) const;
    void expire();

    const RegistryConfig& config_;
    Clock& clock_;
    RegistryStore& store_;
    TrustBundles& trust_;
    Secrets& secrets_;
    AddressProver& prover_;
    Verify verify_;
    Log& log_;
    std::map<ZoneName, LiveZone> zones_;
    std::map<std::string, EnrolmentRight> rights_;  ///< by digest of the code
};

}  // namespace zbs
