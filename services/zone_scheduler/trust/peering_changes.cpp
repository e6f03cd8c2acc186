#include <algorithm>

#include "services/zone_scheduler/trust/peering_service.hpp"
#include "services/zone_scheduler/trust/site_policy/rights_text.hpp"

// What operators do to peerings.
namespace zbs {
namespace {

PeeringAction action_of(PeeringVerb verb) {
    switch (verb) {
        case PeeringVerb::kReject:
            return PeeringAction::kOperatorRejects;
        case PeeringVerb::kSuspend:
            return PeeringAction::kOperatorSuspends;
        case PeeringVerb::kResume:
            return PeeringAction::kOperatorResumes;
        default:
            return PeeringAction::kOperatorAccepts;
    }
}

std::string quoted_list(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
    return text;
}

}  // namespace

/// The record that the operator means.
Result<PeeringRecord*> PeeringService::choose(const OrganisationName& organisation, const PeeringChange& change) {
    std::vector<PeeringRecord*> fitting;
    std::string fingerprints;
    for (const std::string& key : keys_of(organisation)) {
        PeeringRecord& record = records_.at(key);
        fingerprints += "\n  " + record.fingerprint;
        if (change.fingerprint.empty() || change.fingerprint == record.fingerprint) fitting.push_back(&record);
    }
    if (fitting.size() == 1) return fitting.front();
    if (fitting.size() > 1) {
        return Error{ErrorCode::kConflict,
                     "several bundles claim to be '" + organisation +
                         "'; compare with its operator and choose one by its fingerprint:" + fingerprints,
                     "/fingerprint"};
    }
    if (!fingerprints.empty()) {
        return Error{ErrorCode::kNotFound,
                     "no bundle of '" + organisation + "' has this fingerprint; known:" + fingerprints, "/fingerprint"};
    }
    return Error{
        ErrorCode::kNotFound,
        "organisation '" + organisation + "' has not asked to be accepted; give its bundle to accept it anyway",
        "/organisation"};
}

Result<PeeringRecord> PeeringService::change(const OrganisationName& organisation, const PeeringChange& change,
                                             const Caller& by) {
    if (!is_valid_name(organisation) || organisation == config_.organisation)
        return invalid("must be the name of another organisation", "/organisation");
    PeeringRecord record;
    if (!change.bundle.empty() && change.verb == PeeringVerb::kAccept) {
        const Result<std::string> fingerprint = check_bundle(organisation, change.bundle);
        if (!fingerprint) return fingerprint.error();
        if (!change.fingerprint.empty() && change.fingerprint != *fingerprint)
            return invalid("is not that of the bundle, which is " + *fingerprint, "/fingerprint");
        const auto known = records_.find(organisation + " " + *fingerprint);
        record = known != records_.end() ? known->second
                                         : PeeringRecord{.organisation = organisation,
                                                         .fingerprint = *fingerprint,
                                                         .bundle = change.bundle,
                                                         .requested = clock_.now()};
    } else {
        const Result<PeeringRecord*> chosen = choose(organisation, change);
        if (!chosen) return chosen.error();
        record = **chosen;
    }
    const bool first = record.rights == RightsRange{};
    if (change.verb == PeeringVerb::kSet && first)
        return Error{ErrorCode::kConflict, "the peering has no rights to change yet; accept it", {}};
    if (change.verb != PeeringVerb::kSet) {
        const Result<PeeringState> next = next_state(record.state, action_of(change.verb));
        if (!next) return next.error();
        record.state = *next;
        record.reason = change.reason;
    }
    if (change.verb == PeeringVerb::kAccept || change.verb == PeeringVerb::kSet) {
        record.rights = apply(first ? default_rights(static_cast<int>(config_.zone.processor_count())) : record.rights,
                              change.rights);
        if (auto good = check_rights(record.rights, "/rights"); !good) return good.error();
        const PeeringRights& most = record.rights.ceiling;
        // What was there when it was granted may be gone by now; other rights can be changed all the same.
        const bool names_anew =
            change.verb == PeeringVerb::kAccept || change.rights.partitions || change.rights.account_rule;
        const Result<void> there = names_anew ? check_names(most, site_names(), "/rights/ceiling") : Result<void>{};
        if (!there) return there.error();
        if (most.processors == 0 || most.concurrent_parts == 0 || most.walltime <= Duration::zero())
            return invalid(
                "a peering gives at least one processor, one part and some walltime; to give nothing, "
                "suspend or reject it",
                "/rights/ceiling");
        if (change.initial_trust) record.history.initial = *change.initial_trust;
    }
    record.by = to_uri(by);
    record.changed = clock_.now();
    const Result<void> done = change.verb == PeeringVerb::kAccept ? take_seat(record) : save(record);
    if (!done) return done.error();
    return record;
}

Result<void> PeeringService::remove(const OrganisationName& organisation) {
    if (organisation == config_.organisation) return invalid("is this zone's own organisation", "/organisation");
    const std::vector<std::string> keys = keys_of(organisation);
    if (keys.empty() && !trust_.bundle(organisation))
        return Error{ErrorCode::kNotFound, "organisation '" + organisation + "' is not known here", {}};
    if (ports_.usage(organisation).parts > 0) {
        return Error{ErrorCode::kConflict,
                     "'" + organisation + "' has parts here; suspend it and remove it when they have ended",
                     {}};
    }
    for (const std::string& key : keys) {
        if (auto ok = store_.peerings().remove(key); !ok) return ok;
        records_.erase(key);
        unsaved_.erase(key);
    }
    if (auto ok = store_.trusted().remove(organisation); !ok) return ok;
    trust_.unpin(organisation);
    last_.erase(organisation);
    log_.info("peering_removed", {{"organisation", organisation}});
    return {};
}

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
    return {partitions_of(config_), ports_.accounts(), config_.account_map_file, ports_.check_account};
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
