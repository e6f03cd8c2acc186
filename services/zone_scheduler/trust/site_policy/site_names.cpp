#include "services/zone_scheduler/trust/site_policy/site_names.hpp"

#include <algorithm>

#include "services/zone_scheduler/trust/site_policy/peering_rights.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxNamesListed = 20;

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMaxNamesListed); ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMaxNamesListed) text += " and " + std::to_string(names.size() - kMaxNamesListed) + " more";
    return text;
}

std::string pool_fault(const std::string& pool, const SiteNames& site) {
    if (site.accounts == nullptr) {
        return "names pool '" + pool + "', but this zone has no account map: name a file with the line 'pool " + pool +
               " = ACCOUNT...' as account_map in its configuration";
    }
    const std::vector<std::string> pools = site.accounts->pool_names();
    return "names pool '" + pool + "', which is not in the account map " + site.account_map_file + "; " +
           (pools.empty() ? "it has no pools" : "its pools are " + list_of(pools)) + "; add the line 'pool " + pool +
           " = ACCOUNT...' to it or name another";
}

}  // namespace

Result<void> check_names(const PeeringRights& rights, const SiteNames& site, const std::string& pointer) {
    for (std::size_t i = 0; i < rights.partitions.size(); ++i) {
        if (std::binary_search(site.partitions.begin(), site.partitions.end(), rights.partitions[i])) continue;
        return invalid("names partition '" + rights.partitions[i] +
                           "', which no machine of this zone is in; its partitions are " + list_of(site.partitions),
                       pointer + "/partitions/" + std::to_string(i));
    }
    const Result<AccountRule> rule = parse_account_rule(rights.account_rule);
    if (!rule) return invalid(rule.error().message, pointer + "/account_rule");
    if (rule->kind == AccountRule::Kind::kPool && (site.accounts == nullptr || site.accounts->pool(rule->name).empty()))
        return invalid(pool_fault(rule->name, site), pointer + "/account_rule");
    if (rule->kind == AccountRule::Kind::kAccount && site.check_account) {
        if (const Result<void> good = site.check_account(AccountName(rule->name)); !good)
            return invalid(good.error().message, pointer + "/account_rule");
    }
    return {};
}

std::string find_account_gap(const OrganisationName& organisation, const PeeringRights& rights, const SiteNames& site) {
    const Result<AccountRule> rule = parse_account_rule(rights.account_rule);
    if (rule && rule->kind == AccountRule::Kind::kAccount) return {};
    const std::string start = "no user of '" + organisation + "' gets anything here, because ";
    if (rule && rule->kind == AccountRule::Kind::kPool) {
        const bool there = site.accounts != nullptr && !site.accounts->pool(rule->name).empty();
        return there ? "" : start + "its peering " + pool_fault(rule->name, site) + ", and send SIGHUP";
    }
    if (site.accounts != nullptr && site.accounts->gives_account_to(organisation)) return {};
    const std::string row = "'" + organisation + " * * -> ACCOUNT'";
    const std::string otherwise = " and send SIGHUP, or run 'zbs-zone peer set " + organisation +
                                  " --account account:NAME', which runs all of them as that account";
    if (site.accounts == nullptr) {
        return start + "this zone has no account map: name a file with the line " + row +
               " as account_map in its configuration" + otherwise;
    }
    return start + "the account map " + site.account_map_file + " has no line for them: add " + row + " to it" +
           otherwise;
}

std::vector<std::string> find_pools(const OrganisationName& organisation, const PeeringRights& rights,
                                    const SiteNames& site) {
    const Result<AccountRule> rule = parse_account_rule(rights.account_rule);
    if (rule && rule->kind == AccountRule::Kind::kPool) return {rule->name};
    if (site.accounts == nullptr || (rule && rule->kind == AccountRule::Kind::kAccount)) return {};
    return site.accounts->pools_of(organisation);
}

}  // namespace zbs
