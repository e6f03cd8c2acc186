// Checks of the names in an operator's change of a peering, and the notes that it returns.
#include <algorithm>

#include "services/zone_scheduler/trust/peering_service.hpp"

namespace zbs {
namespace {

std::string quoted_list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
    return text;
}

}  // namespace

/// The fingerprint of a bundle that may be the organisation's.
Result<std::string> PeeringService::check_bundle(const OrganisationName& organisation,
                                                 const std::string& bundle) const {
    Result<std::string> fingerprint = trust_.fingerprint(bundle);
    if (!fingerprint) return invalid(fingerprint.error().message, "/bundle");
    const Result<BundleNames> names = trust_.names_in(bundle);
    if (!names) return invalid(names.error().message, "/bundle");
    if (!names->may_be_of(organisation)) {
        return invalid("is the bundle of " + quoted_list(names->organisations) + ", not of '" + organisation +
                           "': its CA certificates can vouch for no other names; give the file identity/bundle.pem of "
                           "a zone of '" +
                           organisation + "', or name the organisation that this one is of",
                       "/bundle");
    }
    return fingerprint;
}

SiteNames PeeringService::site_names() const {
    return {partitions_of(config_), accounts_(), config_.account_map_file, check_account_};
}

std::vector<std::string> PeeringService::bundle_notes(const OrganisationName& organisation) const {
    const std::optional<std::string> bundle = trust_.bundle(organisation);
    if (!bundle) return {};
    const Result<BundleNames> names = trust_.names_in(*bundle);
    const Result<std::string> fingerprint = trust_.fingerprint(*bundle);
    if (!names || !fingerprint || names->unbound.empty()) return {};
    return {"the bundle of '" + organisation + "' does not say whose it is: " + quoted_list(names->unbound) +
            " is bound to no organisation, as a CA that 'zbs-zone init' did not make; compare " + *fingerprint +
            " with its operator, and if it is another's, run 'zbs-zone peer remove " + organisation + "'"};
}

/// A home names its users, so as many as it likes: a pool that organisations share can be used up by any of them.
std::string PeeringService::pool_note(const OrganisationName& organisation, const std::string& pool) const {
    const SiteNames site = site_names();
    const auto uses = [&](const OrganisationName& other, const PeeringRights& rights) {
        const std::vector<std::string> pools = find_pools(other, rights, site);
        return std::find(pools.begin(), pools.end(), pool) != pools.end();
    };
    std::vector<std::string> others;
    if (uses(config_.organisation, {})) others.push_back(config_.organisation);
    for (const auto& [key, record] : records_) {
        const bool seated = record.organisation != organisation && settled(record.organisation) == &record;
        if (seated && uses(record.organisation, record.rights.ceiling)) others.push_back(record.organisation);
    }
    if (others.empty()) return {};
    constexpr std::size_t kNamed = 5;
    const std::size_t more = others.size() - std::min(others.size(), kNamed);
    others.resize(others.size() - more);
    return "pool '" + pool + "' is also of " + quoted_list(others) +
           (more > 0 ? " and " + std::to_string(more) + " more" : "") + ", and '" + organisation +
           "' can use up its accounts with users that it makes up; add the line 'pool NAME = ACCOUNT...' to the "
           "account map " +
           config_.account_map_file + ", send SIGHUP, and run 'zbs-zone peer set " + organisation +
           " --account pool:NAME' to give it a pool of its own";
}

std::vector<std::string> PeeringService::notes(const OrganisationName& organisation) const {
    std::vector<std::string> notes = bundle_notes(organisation);
    const PeeringRecord* record = settled(organisation);
    if (record == nullptr || record->state != PeeringState::kAccepted) return notes;
    const std::string gap = find_account_gap(organisation, record->rights.ceiling, site_names());
    if (!gap.empty()) notes.push_back(gap);
    for (const std::string& pool : find_pools(organisation, record->rights.ceiling, site_names())) {
        if (std::string note = pool_note(organisation, pool); !note.empty()) notes.push_back(std::move(note));
    }
    return notes;
}

}  // namespace zbs
