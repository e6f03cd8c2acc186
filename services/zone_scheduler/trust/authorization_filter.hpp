#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/storage/site_store.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/trust/peering_service.hpp"
#include "services/zone_scheduler/trust/site_policy/account_map.hpp"

namespace zbs {

/// Who wants what, as home asserts it: the user and her groups are of home's own organisation.
struct EntitlementQuery {
    const Caller& home;
    const Caller& user;
    const std::vector<std::string>& groups;
    Duration walltime{};
    std::string partition{};         ///< only machines of this one; empty: of all
    PeeringUsage usage;              ///< of home's organisation, at that time
    Duration start_in{};             ///< the time asked about; 0 = now
    const ZoneConfig* at = nullptr;  ///< of the machines in question, as `config_of` gives it; null: all of the zone
};

/// What the zone gives one user now.
struct Entitlement {
    bool given = false;          ///< false: nothing, for whatever reason; nobody outside may learn which
    std::string why;             ///< the reason, for this zone's own log
    AccountName account;         ///< she runs as; empty: as the zone itself
    std::string pool;            ///< the account comes from this pool when a part is held
    std::vector<bool> machines;  ///< that she may use, by index
    int processors = 0;          ///< that she may have now, on top of what her organisation has
    int total_processors = 0;    ///< with nothing else in use
    int max_overcommit = 1;      ///< most ranks that may share a processor
    /// From now on, when a part of home's organisation may start at the time asked about or next after it; none: never.
    std::optional<Duration> opens_in;
};

/// What these rights leave of these machines for a part of this walltime that starts at `start`, beside `usage`;
/// account and blocks are not considered, and `opens_in` stays empty. Pure. O(machines log machines). `partition`: only
/// machines of this one; empty: of all.
Entitlement entitled_by(const PeeringRights& rights, const ZoneConfig& config, Duration walltime,
                        const PeeringUsage& usage, Time start, const std::string& partition = {});
/// The rights of the zone's own organisation: its zones trust each other without limits.
PeeringRights rights_of_own(const ZoneConfig& config);

/// The one place that says what a user may have here: peering, degree of trust, hours, walltime, partitions, share, the
/// account map, blocks. Asked alike for capacity and for a part. Lives on the domain's strand.
class AuthorizationFilter {
  public:
    /// `is_blocked`: who gets nothing.
    AuthorizationFilter(
        const ZoneConfig& config, Clock& clock, SiteStore& store, const PeeringService& peerings,
        std::function<bool(const Caller&)> is_blocked = [](const Caller&) { return false; });
    Result<void> resume();  ///< loads the leases of pool accounts
    /// Another account map from now on; none: own users run as the zone, others where their peering names an account.
    void set_accounts(std::optional<AccountMap> accounts) { accounts_ = std::move(accounts); }

    /// The map of this moment; null where there is none.
    const AccountMap* accounts() const { return accounts_ ? &*accounts_ : nullptr; }

    /// Does the same work whatever comes out, so that the time reveals nothing. O(lines of the map + machines).
    Entitlement find(const EntitlementQuery& query) const;
    /// The account of an entitlement that was given, leased where it comes from a pool. Errors: kRejected where the
    /// pool has none left; the store's.
    Result<AccountName> take_account(const Entitlement& entitlement, const Caller& user);
    /// A part runs (or may start) in this account; and: it has ended. A lease under which nothing ran ends with its
    /// last part: holding and giving back empties no pool.
    void begin_use(const AccountName& account);
    void end_use(const AccountName& account);
    /// Before something of its user runs in a leased account: from now on it has files and processes of that user, and
    /// goes to nobody else unless the site says that it cleans accounts (`reuse_pool_accounts`). Errors: the store's.
    Result<void> record_run(const AccountName& account);

  private:
    std::vector<PoolLease> leases() const;

    const ZoneConfig& config_;
    Clock& clock_;
    SiteStore& store_;
    const PeeringService& peerings_;
    std::function<bool(const Caller&)> is_blocked_;
    std::optional<AccountMap> accounts_;
    std::map<AccountName, PoolLease> leases_;  ///< by account
    std::map<AccountName, int> in_use_;        ///< parts by account
};

}  // namespace zbs
