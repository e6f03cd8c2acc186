#include "services/zone_scheduler/trust/authorization_filter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/trust/site_policy/peering_rights.hpp"

namespace zbs {
namespace {

/// Where the user runs: a line of the map that denies her beats whatever her organisation was granted.
AccountDecision decide(const PeeringRights& rights, const AccountDecision& by_map) {
    const Result<AccountRule> rule = parse_account_rule(rights.account_rule);
    if (!rule || rule->kind == AccountRule::Kind::kMap || by_map.kind == AccountDecision::Kind::kDeny) return by_map;
    return {rule->kind == AccountRule::Kind::kAccount ? AccountDecision::Kind::kAccount : AccountDecision::Kind::kPool,
            rule->name, 0};
}

}  // namespace

PeeringRights rights_of_own(const ZoneConfig& config) {
    return {.processors = processors_with_slots(config),
            .walltime = std::chrono::seconds{limits::kMaxWalltimeSeconds},
            .concurrent_parts = limits::kMaxRanks,
            .require_delegation = false};
}

Entitlement entitled_by(const PeeringRights& rights, const ZoneConfig& config, Duration walltime,
                        const PeeringUsage& usage, Time start, const std::string& partition) {
    Entitlement entitlement;
    std::vector<int> allowed_of;
    for (std::size_t m = 0; m < config.zone.machines.size(); ++m) {
        const std::string own = m < config.partition_of.size() ? config.partition_of[m] : "main";
        const bool fits = (partition.empty() || partition == own) &&
                          (rights.partitions.empty() || std::find(rights.partitions.begin(), rights.partitions.end(),
                                                                  own) != rights.partitions.end());
        entitlement.machines.push_back(fits);
        if (fits) allowed_of.push_back(config.zone.machines[m].processors);
    }
    std::ranges::sort(allowed_of, std::greater{});
    if (config.max_machines > 0) allowed_of.resize(std::min(allowed_of.size(), std::size_t(config.max_machines)));
    const int allowed = std::accumulate(allowed_of.begin(), allowed_of.end(), 0);
    const int share = static_cast<int>(std::floor(rights.share * processors_with_slots(config) + 1e-9));
    const bool fits_walltime =
        walltime <= rights.walltime && (!config.max_walltime || walltime <= *config.max_walltime);
    const int total = std::min({allowed, rights.processors, share});
    const bool open = allows_start(rights, start) && usage.parts < rights.concurrent_parts;
    // What others of the organisation have counts against its limits, not against the machines: those are free or not.
    const int left = std::min(rights.processors, share) - usage.processors;
    entitlement.why = !fits_walltime ? "walltime" : !open ? "hours or number of parts" : "";
    entitlement.max_overcommit = std::min(config.max_overcommit, rights.overcommit);
    entitlement.given = fits_walltime;
    entitlement.total_processors = fits_walltime ? std::max(total, 0) : 0;
    entitlement.processors = fits_walltime && open ? std::clamp(left, 0, std::max(allowed, 0)) : 0;
    return entitlement;
}

AuthorizationFilter::AuthorizationFilter(const ZoneConfig& config, Clock& clock, SiteStore& store,
                                         const PeeringService& peerings, std::function<bool(const Caller&)> is_blocked)
    : config_(config),
      clock_(clock),
      store_(store),
      peerings_(peerings),
      is_blocked_(std::move(is_blocked)),
      accounts_(config.accounts) {}

Result<void> AuthorizationFilter::resume() {
    accounts_ = config_.accounts;
    Result<std::vector<PoolLease>> known = store_.pool_leases().load();
    if (!known) return known.error();
    for (PoolLease& lease : *known) leases_.insert_or_assign(lease.account, std::move(lease));
    return {};
}

std::vector<PoolLease> AuthorizationFilter::leases() const {
    std::vector<PoolLease> all;
    for (const auto& [account, lease] : leases_) {
        all.push_back(lease);
        const auto used = in_use_.find(account);
        all.back().busy = (used != in_use_.end() && used->second > 0) || (lease.used && !config_.reuse_pool_accounts);
    }
    return all;
}

Entitlement AuthorizationFilter::find(const EntitlementQuery& query) const {
    static const AccountMap kNobody;
    const Time now = clock_.now();
    const bool own = query.home.organisation == config_.organisation;
    const std::optional<PeeringRights> granted = peerings_.rights_now(query.home.organisation);
    const PeeringRights rights = own ? rights_of_own(config_) : granted.value_or(PeeringRights{});

    const AccountDecision by_map = (accounts_ ? *accounts_ : kNobody).find(query.user, query.groups);
    AccountDecision account = decide(rights, by_map);
    if (own && !accounts_) account = {AccountDecision::Kind::kAccount, {}, 0};
    const std::span<const AccountName> pool =
        accounts_ ? accounts_->pool(account.name) : std::span<const AccountName>{};
    const bool pool_has_one = choose_pool_account(pool, leases(), query.user, now).has_value();
    const bool blocked = is_blocked_(query.user);

    const bool has_account = account.kind == AccountDecision::Kind::kAccount ||
                             (account.kind == AccountDecision::Kind::kPool && pool_has_one);

    Entitlement entitlement = entitled_by(rights, query.at != nullptr ? *query.at : config_, query.walltime,
                                          query.usage, now + query.start_in, query.partition);
    if (const std::optional<Time> opens = find_allowed_start(rights, now + query.start_in))
        entitlement.opens_in = *opens - now;
    if ((!own && !granted) || blocked || !has_account) {
        entitlement.why = !own && !granted ? "its organisation is not accepted"
                          : blocked        ? "blocked"
                                    : "no account (line " + std::to_string(account.line) + " of the account map)";
        entitlement.given = false;
        entitlement.total_processors = entitlement.processors = 0;
    }
    if (account.kind == AccountDecision::Kind::kAccount) entitlement.account = AccountName(account.name);
    entitlement.pool = account.kind == AccountDecision::Kind::kPool ? account.name : "";
    return entitlement;
}

Result<AccountName> AuthorizationFilter::take_account(const Entitlement& entitlement, const Caller& user) {
    ZBS_EXPECTS(entitlement.given);
    if (entitlement.pool.empty()) return entitlement.account;
    const std::span<const AccountName> pool =
        accounts_ ? accounts_->pool(entitlement.pool) : std::span<const AccountName>{};
    const auto chosen = choose_pool_account(pool, leases(), user, clock_.now());
    if (!chosen) return Error{ErrorCode::kRejected, "pool '" + entitlement.pool + "' has no account left", {}};
    const auto before = leases_.find(chosen->account);
    const bool used = before != leases_.end() && before->second.used;
    const PoolLease lease{chosen->account, user, clock_.now(), true, used && before->second.user == user};
    if (auto ok = store_.pool_leases().save(lease); !ok) return ok.error();
    leases_.insert_or_assign(lease.account, lease);
    return lease.account;
}

void AuthorizationFilter::begin_use(const AccountName& account) {
    if (!account.empty()) ++in_use_[account];
}

void AuthorizationFilter::end_use(const AccountName& account) {
    const auto used = in_use_.find(account);
    if (used == in_use_.end() || --used->second > 0) return;
    in_use_.erase(used);
    const auto lease = leases_.find(account);
    if (lease == leases_.end()) return;
    if (!lease->second.used) {
        // Where this fails the account counts as leased for a month; nothing of the user is in it.
        static_cast<void>(store_.pool_leases().remove(account));
        leases_.erase(lease);
        return;
    }
    lease->second.busy = false;
    lease->second.last_used = clock_.now();
    // Where this fails the account counts as idle since it was taken, which a month of idle time makes up for.
    static_cast<void>(store_.pool_leases().save(lease->second));
}

Result<void> AuthorizationFilter::record_run(const AccountName& account) {
    const auto lease = leases_.find(account);
    if (lease == leases_.end() || lease->second.used) return {};
    PoolLease changed = lease->second;
    changed.used = true;
    if (auto ok = store_.pool_leases().save(changed); !ok) return ok;
    lease->second = std::move(changed);
    return {};
}

}  // namespace zbs
