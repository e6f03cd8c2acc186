#pragma once
#include <functional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/peering.hpp"
#include "services/zone_scheduler/trust/site_policy/account_map.hpp"

namespace zbs {

/// What there is at a zone that rights can name.
struct SiteNames {
    std::vector<std::string> partitions;   ///< of its machines, sorted
    const AccountMap* accounts = nullptr;  ///< null: the zone has no account map
    std::string account_map_file;          ///< where it is, for people
    /// Whether jobs may run as an account of this host; empty: not asked, because all jobs run as the zone's own user.
    std::function<Result<void>(const AccountName& account)> check_account;
};

/// Refuses rights that name a partition, a pool or an account which is not there. The error lists those that are;
/// `pointer` + "/partitions/0" or "/account_rule" is the place.
Result<void> check_names(const PeeringRights& rights, const SiteNames& site, const std::string& pointer = {});

/// Why no user of `organisation` gets an account under these rights, and what to write where; empty where some may.
std::string find_account_gap(const OrganisationName& organisation, const PeeringRights& rights, const SiteNames& site);

/// The pools from which users of `organisation` get accounts under these rights, by name.
std::vector<std::string> find_pools(const OrganisationName& organisation, const PeeringRights& rights,
                                    const SiteNames& site);

}  // namespace zbs
