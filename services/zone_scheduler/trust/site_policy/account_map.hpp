#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/site.hpp"

namespace zbs {

/// Which local account a user gets. Nobody outside the zone may learn the difference between kDeny and kNone, nor
/// between these and a user who does not exist: same answer, same time. `line` is for the audit log only.
struct AccountDecision {
    enum class Kind {
        kAccount,  ///< `name` is the account
        kPool,     ///< `name` is the pool; see `choose_pool_account`
        kDeny,     ///< a line says deny
        kNone,     ///< no line fits
    };
    Kind kind = Kind::kNone;
    std::string name;
    int line = 0;  ///< of the map, from 1; 0 for kNone

    bool gives_account() const { return kind == Kind::kAccount || kind == Kind::kPool; }
    bool operator==(const AccountDecision&) const = default;
};

/// The operator's table from `(organisation, user, group)` to a local account, a pool of accounts, or a denial.
///
///     # first line that fits decides; * stands for any letters
///     pool physics = phys[01-20] guest1
///     alpha  mallory  *         -> deny
///     alpha  *        physics*  -> pool:physics
///     beta   ann      *         -> annb
///
/// A user without groups fits only a `*` in the third column. An account is in at most one pool and then in no line of
/// its own, so no two users meet in one by accident.
class AccountMap {
  public:
    AccountMap() = default;  ///< nobody has an account

    /// Errors: kInvalidArgument with "file:line" as pointer; kTooLarge over `limits::kMaxAccountMap...`.
    static Result<AccountMap> parse(std::string_view text, std::string_view file);

    /// Reads every line whatever the outcome, so that the time reveals nothing. kNone for a caller that is not a user.
    AccountDecision find(const Caller& user, std::span<const std::string> groups) const;
    /// The accounts of a pool, in the order of the map; empty for a pool that does not exist.
    std::span<const AccountName> pool(std::string_view name) const;
    /// By name.
    std::vector<std::string> pool_names() const;
    /// True where a line gives some user of the organisation an account; lines above it may still deny her.
    bool gives_account_to(const OrganisationName& organisation) const;
    /// Pools from which a line gives accounts to users of the organisation, by name.
    std::vector<std::string> pools_of(const OrganisationName& organisation) const;
    std::size_t line_count() const { return lines_.size(); }
    bool operator==(const AccountMap&) const = default;

  private:
    struct Line {
        std::string organisation;
        std::string user;
        std::string group;
        AccountDecision decision;
        bool operator==(const Line&) const = default;
    };
    friend class AccountMapReader;
    std::vector<Line> lines_;
    std::map<std::string, std::vector<AccountName>, std::less<>> pools_;
};

/// True for [a-z_][a-z0-9_-]{0,31} that does not sound like user id 0 (root, toor, superuser, uid0, also with digits,
/// `-` or `_` around the letters). The id itself is checked by who switches to it.
bool is_valid_account(std::string_view name);

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
