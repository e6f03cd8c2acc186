#include "services/zone_scheduler/trust/site_policy/account_pool.hpp"

#include <map>
#include <string_view>

namespace zbs {

std::optional<PoolChoice> choose_pool_account(std::span<const AccountName> pool, std::span<const PoolLease> leases,
                                              const Caller& user, Time now, Duration idle_time) {
    struct Holder {
        const PoolLease* lease = nullptr;
        bool doubtful = false;  ///< more than one
    };
    std::map<std::string_view, Holder> holders;
    for (const PoolLease& lease : leases) {
        Holder& holder = holders[lease.account];
        holder.doubtful = holder.lease != nullptr;
        holder.lease = &lease;
    }
    const AccountName* unused = nullptr;
    const PoolLease* longest_idle = nullptr;
    for (const AccountName& account : pool) {
        const auto at = holders.find(account);
        if (at == holders.end()) {
            if (unused == nullptr) unused = &account;
            continue;
        }
        const PoolLease& lease = *at->second.lease;
        if (at->second.doubtful) continue;
        if (lease.user == user) return PoolChoice{account, std::nullopt};
        if (!lease.busy && now - lease.last_used >= idle_time &&
            (longest_idle == nullptr || lease.last_used < longest_idle->last_used))
            longest_idle = &lease;
    }
    if (unused != nullptr) return PoolChoice{*unused, std::nullopt};
    if (longest_idle != nullptr) return PoolChoice{longest_idle->account, longest_idle->user};
    return std::nullopt;
}

}  // namespace zbs
