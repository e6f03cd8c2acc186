#include "services/zone_scheduler/trust/site_policy/account_map.hpp"

#include <algorithm>
#include <set>

#include "services/zone_scheduler/trust/site_policy/glob.hpp"

namespace zbs {

bool is_valid_account(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    const auto rest = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
    if (name.empty() || name.size() > 32 || !letter(name[0]) || !std::all_of(name.begin(), name.end(), rest))
        return false;
    std::string letters;
    std::copy_if(name.begin(), name.end(), std::back_inserter(letters), [](char c) { return c >= 'a' && c <= 'z'; });
    return letters != "root" && letters != "toor" && letters != "superuser" && letters != "uid";
}

AccountDecision AccountMap::find(const Caller& user, std::span<const std::string> groups) const {
    const Line* first = nullptr;
    for (const Line& line : lines_) {
        // Neither `&&` nor an early end: what a line costs must not depend on whether it fits.
        const bool organisation = matches_glob(line.organisation, user.organisation);
        const bool name = matches_glob(line.user, user.name);
        bool group = matches_glob(line.group, "");
        for (const std::string& own : groups) group |= matches_glob(line.group, own);
        if (static_cast<int>(organisation) & static_cast<int>(name) & static_cast<int>(group))
            first = first == nullptr ? &line : first;
    }
    if (first == nullptr || user.kind != CallerKind::kUser) return {};
    return first->decision;
}

std::span<const AccountName> AccountMap::pool(std::string_view name) const {
    const auto at = pools_.find(name);
    if (at == pools_.end()) return {};
    return at->second;
}

std::vector<std::string> AccountMap::pool_names() const {
    std::vector<std::string> names;
    for (const auto& [name, accounts] : pools_) names.push_back(name);
    return names;
}

std::vector<std::string> AccountMap::pools_of(const OrganisationName& organisation) const {
    std::set<std::string> names;
    for (const Line& line : lines_) {
        if (line.decision.kind == AccountDecision::Kind::kPool && matches_glob(line.organisation, organisation))
            names.insert(line.decision.name);
    }
    return {names.begin(), names.end()};
}

bool AccountMap::gives_account_to(const OrganisationName& organisation) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
        return line.decision.gives_account() && matches_glob(line.organisation, organisation);
    });
}

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
