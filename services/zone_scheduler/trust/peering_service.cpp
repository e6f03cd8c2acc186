#include "services/zone_scheduler/trust/peering_service.hpp"

#include <algorithm>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/trust/peering_request.hpp"

namespace zbs {
namespace {

using enum PeeringState;

bool holds_seat(const PeeringRecord& record) { return record.state == kAccepted || record.state == kSuspended; }

/// Puts the zone among those of the record; true where that is worth writing down now.
bool record_zone(PeeringRecord& record, const PeeringRequest& request, Time now) {
    const auto at = std::find_if(record.zones.begin(), record.zones.end(),
                                 [&](const PeerZone& zone) { return zone.name == request.zone; });
    if (at != record.zones.end()) {
        const bool moved = at->url != request.url;
        at->url = request.url;
        at->seen = now;
        return moved;
    }
    if (record.zones.size() >= limits::kMaxZonesPerPeering) return false;
    record.zones.push_back({request.zone, request.url, now});
    std::sort(record.zones.begin(), record.zones.end(),
              [](const PeerZone& a, const PeerZone& b) { return a.name < b.name; });
    return true;
}

Time last_seen(const PeeringRecord& record) {
    Time last = record.requested;
    for (const PeerZone& zone : record.zones) last = std::max(last, zone.seen);
    return last;
}

}  // namespace

PeeringService::PeeringService(const ZoneConfig& config, Clock& clock, SiteStore& store, TrustBundles& trust, Log& log,
                               PeeringPorts ports)
    : config_(config), clock_(clock), store_(store), trust_(trust), log_(log), ports_(std::move(ports)) {
    if (!ports_.accounts) ports_.accounts = [this] { return config_.accounts ? &*config_.accounts : nullptr; };
}

Result<void> PeeringService::resume() {
    Result<std::vector<PeeringRecord>> known = store_.peerings().load();
    if (!known) return known.error();
    for (PeeringRecord& record : *known) {
        if (holds_seat(record)) {
            if (auto pinned = trust_.pin(record.organisation, record.bundle); !pinned) return pinned.error();
        }
        records_.insert_or_assign(key_of(record), std::move(record));
    }
    set_rules(config_.rules);
    return {};
}

void PeeringService::set_rules(std::vector<AutomaticRule> rules) {
    rules_ = std::move(rules);
    for (AutomaticRule& rule : rules_) {
        if (rule.bundle.empty()) continue;
        const Result<std::string> fingerprint = trust_.fingerprint(rule.bundle);
        if (!fingerprint) {
            log_.warn("rule_bundle_not_taken", {{"reason", fingerprint.error().message}});
            continue;
        }
        rule.fingerprint = *fingerprint;
        for (const std::string& organisation : rule.organisations) {
            if (organisation.find('*') != std::string::npos) continue;
            // Known by name and bundle: it can be asked, too, before it has asked us.
            if (auto believed = believe(OrganisationName(organisation), rule.bundle); !believed)
                log_.warn("rule_bundle_not_taken",
                          {{"organisation", organisation}, {"reason", believed.error().message}});
        }
    }
}

const AutomaticRule* PeeringService::rule_for(const OrganisationName& organisation,
                                              const std::string& fingerprint) const {
    for (const AutomaticRule& rule : rules_) {
        if (match_rule({&rule, 1}, organisation) == nullptr) continue;
        if (rule.fingerprint == fingerprint || (rule.trust_on_first_use && rule.fingerprint.empty())) return &rule;
    }
    return nullptr;
}

PeeringRecord* PeeringService::settled(const OrganisationName& organisation) {
    return const_cast<PeeringRecord*>(std::as_const(*this).settled(organisation));
}

const PeeringRecord* PeeringService::settled(const OrganisationName& organisation) const {
    for (const std::string& key : keys_of(organisation)) {
        if (const PeeringRecord& record = records_.at(key); holds_seat(record)) return &record;
    }
    return nullptr;
}

std::vector<std::string> PeeringService::keys_of(const OrganisationName& organisation) const {
    std::vector<std::string> keys;
    const std::string start = organisation + " ";
    for (auto at = records_.lower_bound(start); at != records_.end() && at->first.starts_with(start); ++at)
        keys.push_back(at->first);
    return keys;
}

Result<void> PeeringService::save(const PeeringRecord& record) {
    if (auto ok = store_.peerings().save(record); !ok) return ok;
    const std::string key = key_of(record);
    const auto at = records_.find(key);
    if (at == records_.end() || at->second.state != record.state) {
        log_.info("peering", {{"organisation", record.organisation},
                              {"fingerprint", record.fingerprint},
                              {"state", to_string(record.state)},
                              {"by", record.by},
                              {"reason", record.reason}});
    }
    records_.insert_or_assign(key, record);
    return {};
}

/// Believes the record's bundle, now and after a restart. What is known of its revocations stays.
Result<void> PeeringService::pin(const PeeringRecord& record) {
    TrustedOrganisation trusted{record.organisation, record.bundle, {}, clock_.now()};
    Result<std::vector<TrustedOrganisation>> known = store_.trusted().load();
    if (!known) return known.error();
    for (TrustedOrganisation& old : *known) {
        if (old.organisation == record.organisation && old.bundle == record.bundle)
            trusted.revocations = std::move(old.revocations);
    }
    if (auto ok = store_.trusted().save(trusted); !ok) return ok;
    return trust_.pin(record.organisation, record.bundle);
}

Result<void> PeeringService::believe(const OrganisationName& organisation, const std::string& bundle) {
    if (!is_valid_name(organisation) || organisation == config_.organisation)
        return invalid("must be the name of another organisation", "/organisation");
    const Result<std::string> fingerprint = check_bundle(organisation, bundle);
    if (!fingerprint) return fingerprint.error();
    if (const auto known = trust_.bundle(organisation)) {
        const Result<std::string> old = trust_.fingerprint(*known);
        if (old && *old == *fingerprint) return {};
        return Error{ErrorCode::kConflict,
                     "another bundle of '" + organisation + "' is believed here (" +
                         (old ? *old : std::string("unreadable")) + "); 'zbs-zone peer remove " + organisation +
                         "' forgets it",
                     "/bundle"};
    }
    if (auto pinned = pin({.organisation = organisation, .fingerprint = *fingerprint, .bundle = bundle}); !pinned)
        return pinned;
    for (const std::string& note : bundle_notes(organisation)) log_.warn("peering_note", {{"note", note}});
    return {};
}

PeeringAnswer PeeringService::answer_of(const PeeringRecord& record) const {
    PeeringAnswer answer{config_.name(), config_.organisation, record.state, record.reason};
    if (record.state == kRequested) answer.reason = "waits for the operator of zone " + config_.zone.name;
    if (answer.reason.empty() && record.state != kAccepted)
        answer.reason = std::string(to_string(record.state)) + " by " + config_.contact;
    return answer;
}

/// At most so many that nobody has answered: the one silent for longest goes, and comes back when it asks again.
Result<void> PeeringService::make_room() {
    const PeeringRecord* oldest = nullptr;
    std::size_t pending = 0;
    for (const auto& [key, record] : records_) {
        if (record.state != kRequested) continue;
        ++pending;
        if (oldest == nullptr || last_seen(record) < last_seen(*oldest)) oldest = &record;
    }
    if (pending < limits::kMaxPendingPeerings) return {};
    const std::string key = key_of(*oldest);
    if (auto ok = store_.peerings().remove(key); !ok) return ok;
    log_.warn("peering_request_dropped", {{"organisation", oldest->organisation}});
    records_.erase(key);
    return {};
}

namespace {

/// The caller may ask in the name of the zone that the request names.
Result<void> check_asker(const Caller& caller, const PeeringRequest& request, const Caller& self) {
    const Caller asker{CallerKind::kZone, request.organisation, request.zone};
    if (caller.kind != CallerKind::kZone && caller.kind != CallerKind::kAnonymous)
        return Error{ErrorCode::kUnauthenticated, "only zones ask for peering", {}};
    if (caller.kind == CallerKind::kZone && !(caller == asker))
        return Error{ErrorCode::kDenied, "the request names another zone than the caller", "/zone"};
    if (request.zone == self.name)
        return Error{ErrorCode::kConflict, "this zone's own name is '" + request.zone + "'", "/zone"};
    if (request.organisation == self.organisation && caller.kind != CallerKind::kZone)
        return Error{ErrorCode::kUnauthenticated, "a zone of this organisation shows its certificate", {}};
    return {};
}

/// A peer of another organisation has the name of the zone that asks.
bool is_name_taken(const std::map<std::string, PeeringRecord>& records, const PeeringRequest& request) {
    return std::ranges::any_of(records, [&](const auto& entry) {
        const PeeringRecord& record = entry.second;
        return holds_seat(record) && record.organisation != request.organisation &&
               std::ranges::count(record.zones, request.zone, &PeerZone::name) > 0;
    });
}

PeeringRecord new_record(const PeeringRequest& request, const std::string& fingerprint, Time now) {
    return {
        .organisation = request.organisation, .fingerprint = fingerprint, .bundle = request.bundle, .requested = now};
}

void accept(PeeringRecord& record, const AutomaticRule& rule, Time now) {
    record.state = kAccepted;
    record.by = "a rule of the zone's configuration";
    record.rights = rule.rights;
    record.history.initial = rule.initial_trust;
    record.changed = now;
}

}  // namespace

Result<PeeringAnswer> PeeringService::request(const Caller& caller, const PeeringRequest& request) {
    const Caller asker{CallerKind::kZone, request.organisation, request.zone};
    const Caller self = config_.self();
    if (auto good = check_asker(caller, request, self); !good) return good.error();
    PeeringAnswer answer{config_.name(), config_.organisation, kAccepted, {}};
    const bool own = request.organisation == config_.organisation;

    const Time now = clock_.now();
    std::string fingerprint;
    if (!own) {
        Result<std::string> shown = check_peering_request(request, self, now, trust_);
        if (!shown) return shown.error();
        fingerprint = *std::move(shown);
    }
    if (ports_.is_blocked(asker))
        return Error{ErrorCode::kDenied,
                     to_uri(asker) + " may do nothing at zone " + self.name + "; ask " + config_.contact,
                     {}};
    if (request.interface_version != kInterfaceVersion) {
        answer.state = kRejected;
        answer.reason = "interface version " + std::to_string(request.interface_version) +
                        " is not spoken here; this zone speaks " + std::to_string(kInterfaceVersion);
        return answer;
    }
    if (own) return answer;
    if (is_name_taken(records_, request))
        return Error{ErrorCode::kConflict,
                     "a zone named '" + request.zone + "' of another organisation is a peer already", "/zone"};
    if (const auto pinned = trust_.bundle(request.organisation)) {
        const Result<std::string> believed = trust_.fingerprint(*pinned);
        if (!believed || *believed != fingerprint) {
            // Says nothing about the organisation that is believed: anybody can claim a name.
            log_.warn("peering_request_with_other_bundle",
                      {{"organisation", request.organisation}, {"fingerprint", fingerprint}});
            answer.state = kRejected;
            answer.reason = "another bundle of '" + request.organisation + "' is known here; ask " + config_.contact;
            return answer;
        }
    }

    const auto known = records_.find(request.organisation + " " + fingerprint);
    PeeringRecord record = known != records_.end() ? known->second : new_record(request, fingerprint, now);
    const bool worth_saving = record_zone(record, request, now) || known == records_.end();
    const AutomaticRule* rule = rule_for(request.organisation, fingerprint);
    if (rule != nullptr && record.state == kRequested) {
        accept(record, *rule, now);
        if (auto seated = take_seat(record); !seated) return seated.error();
        for (const std::string& note : notes(request.organisation)) log_.warn("peering_note", {{"note", note}});
        return answer_of(record);
    }
    if (known == records_.end()) {
        if (auto room = make_room(); !room) return room.error();
    }
    if (worth_saving) {
        if (auto ok = save(record); !ok) return ok.error();
    } else {
        known->second.zones = record.zones;
    }
    return answer_of(record);
}

/// One bundle of an organisation is believed: the others that claimed the name are gone.
Result<void> PeeringService::take_seat(PeeringRecord accepted) {
    if (auto pinned = pin(accepted); !pinned) return pinned;
    if (auto ok = save(accepted); !ok) return ok;
    for (const std::string& key : keys_of(accepted.organisation)) {
        if (key == key_of(accepted)) continue;
        if (auto ok = store_.peerings().remove(key); !ok) return ok;
        records_.erase(key);
    }
    return {};
}

bool PeeringService::accepts(const Caller& zone) const {
    return zone.kind == CallerKind::kZone && state_of(zone.organisation) == kAccepted;
}

std::optional<PeeringState> PeeringService::state_of(const OrganisationName& organisation) const {
    if (organisation == config_.organisation) return kAccepted;
    if (const PeeringRecord* record = settled(organisation)) return record->state;
    std::optional<PeeringState> state;
    for (const std::string& key : keys_of(organisation)) {
        const PeeringState one = records_.at(key).state;
        if (!state || one == kRequested) state = one;
    }
    return state;
}

std::optional<PeeringRights> PeeringService::rights_now(const OrganisationName& organisation) const {
    const PeeringRecord* record = settled(organisation);
    if (record == nullptr || record->state != kAccepted) return std::nullopt;
    return effective_rights(record->rights, explain(record->history, clock_.now()).score);
}

void PeeringService::record(const OrganisationName& organisation, TrustEvent event) {
    PeeringRecord* record = settled(organisation);
    if (record == nullptr) {
        if (!trust_.bundle(organisation)) return;
        TrustHistory& history = conduct_of_asked_[organisation];
        history = apply(history, event, clock_.now());
        return;
    }
    record->history = apply(record->history, event, clock_.now());
    std::deque<Event>& last = last_[organisation];
    last.push_back({clock_.now(), event});
    if (last.size() > kLastEvents) last.pop_front();
    unsaved_[key_of(*record)] = true;
    save_later();
}

bool PeeringService::is_doubtful(const OrganisationName& organisation) const {
    const PeeringRecord* record = settled(organisation);
    const auto asked = conduct_of_asked_.find(organisation);
    if (record == nullptr && asked == conduct_of_asked_.end()) return false;
    const auto trust = explain(record != nullptr ? record->history : asked->second, clock_.now());
    return trust.score < trust.initial / 2;
}

void PeeringService::save_later() {
    if (saving_) return;
    saving_ = true;
    clock_.after(kSaveEvery, [this] {
        saving_ = false;
        flush();
    });
}

void PeeringService::flush() {
    for (auto at = unsaved_.begin(); at != unsaved_.end();) {
        const auto record = records_.find(at->first);
        if (record != records_.end()) {
            if (auto ok = store_.peerings().save(record->second); !ok) {
                log_.warn("store_failed", {{"peering", at->first}, {"reason", ok.error().message}});
                return save_later();
            }
        }
        at = unsaved_.erase(at);
    }
}

PeeringService::View PeeringService::view_of(const PeeringRecord& record) const {
    View view{record, explain(record.history, clock_.now()), {}, {}, {}};
    view.now = rights_now(record.organisation).value_or(PeeringRights{});
    view.usage = ports_.usage(record.organisation);
    if (const auto at = last_.find(record.organisation); at != last_.end())
        view.last.assign(at->second.begin(), at->second.end());
    return view;
}

std::vector<PeeringService::KnownZone> PeeringService::accepted_zones() const {
    std::vector<KnownZone> all;
    for (const auto& [key, record] : records_) {
        if (record.state != kAccepted) continue;
        for (const PeerZone& zone : record.zones) all.push_back({record.organisation, zone});
    }
    return all;
}

std::optional<PeeringService::KnownZone> PeeringService::find_accepted(const ZoneName& name) const {
    for (const auto& [key, record] : records_) {
        if (record.state != kAccepted) continue;
        for (const PeerZone& zone : record.zones)
            if (zone.name == name) return KnownZone{record.organisation, zone};
    }
    return std::nullopt;
}

std::vector<PeeringService::View> PeeringService::views() const {
    std::vector<View> all;
    for (const auto& [key, record] : records_) all.push_back(view_of(record));
    return all;
}

std::vector<PeeringService::View> PeeringService::views(const OrganisationName& organisation) const {
    std::vector<View> all;
    for (const std::string& key : keys_of(organisation)) all.push_back(view_of(records_.at(key)));
    return all;
}

}  // namespace zbs
