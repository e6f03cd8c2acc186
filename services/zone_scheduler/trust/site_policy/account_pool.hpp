#pragma once
#include <optional>
#include <span>
#include <string>

#include "algorithms/base/time.hpp"
#include "services/common/messages/site.hpp"

namespace zbs {

struct PoolChoice {
    AccountName account;
    /// Whose it was. The zone does not clean accounts, so it gives away only those that nothing ran in, unless the site
    /// says that it cleans them (`reuse_pool_accounts`).
    std::optional<Caller> taken_from;
    bool operator==(const PoolChoice&) const = default;
};

inline constexpr Duration kPoolIdleTime = std::chrono::hours{24 * 30};

/// The account that `user` had; else the first of `pool` that nobody has; else the one longest unused, if that is
/// `idle_time` or more and it is not busy; else none. Leases outside `pool` do not count; an account that two leases
/// name is given to nobody. O(leases log pool).
std::optional<PoolChoice> choose_pool_account(std::span<const AccountName> pool, std::span<const PoolLease> leases,
                                              const Caller& user, Time now, Duration idle_time = kPoolIdleTime);

}  // namespace zbs
