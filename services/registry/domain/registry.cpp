#include "services/registry/domain/registry.hpp"

#include <algorithm>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {
namespace {

Error no_such_code() {
    return {ErrorCode::kDenied,
            "this code does not work here: it was used, has run out, is for another organisation, or never was one; "
            "ask the registry's operator for another ('zbs-registry token')",
            {}};
}

Caller zone_of(const ZoneEntry& entry) { return {CallerKind::kZone, entry.organisation, entry.name}; }

}  // namespace

bool Registry::is_live(const LiveZone& live) const { return !live.gone && live.until > clock_.steady_now(); }

std::optional<RivalClaim> Registry::rival_of(const LiveZone& live) const {
    if (!live.rival) return std::nullopt;
    RivalClaim rival = *live.rival;
    rival.age = clock_.steady_now() - live.rival_at;
    return rival.age > kRivalRemembered ? std::nullopt : std::optional(rival);
}

void Registry::record_rival(LiveZone& live, const ZoneEntry& entry) {
    const RivalClaim rival{to_uri(zone_of(entry)), entry.url};
    if (live.rival != rival)
        log_.warn("identity_claimed_twice", {{"zone", to_uri(zone_of(live.entry))},
                                             {"url", live.entry.url},
                                             {"rival", rival.zone},
                                             {"rival_url", rival.url}});
    live.rival = rival;
    live.rival_at = clock_.steady_now();
}

Registry::Registry(const RegistryConfig& config, Clock& clock, RegistryStore& store, TrustBundles& trust,
                   Secrets& secrets, AddressProver& prover, Verify verify, Log& log)
    : config_(config),
      clock_(clock),
      store_(store),
      trust_(trust),
      secrets_(secrets),
      prover_(prover),
      verify_(std::move(verify)),
      log_(log) {}

Result<void> Registry::resume() {
    if (auto pinned = trust_.pin(config_.organisation, config_.bundle); !pinned) return pinned.error();
    Result<std::vector<TrustedOrganisation>> organisations = store_.organisations().load();
    if (!organisations) return organisations.error();
    for (const TrustedOrganisation& known : *organisations) {
        if (auto pinned = trust_.pin(known.organisation, known.bundle); !pinned) return pinned.error();
    }
    Result<std::vector<EnrolmentRight>> rights = store_.rights().load();
    if (!rights) return rights.error();
    for (EnrolmentRight& right : *rights) rights_.emplace(right.code_hash, std::move(right));
    Result<std::vector<EnrolledZone>> zones = store_.zones().load();
    if (!zones) return zones.error();
    for (EnrolledZone& zone : *zones) {
        Result<ZoneEntry> entry = verify_(zone.entry);
        if (!entry) {  // its certificate ran out while the registry was down: the zone will publish a new one
            log_.warn("entry_not_shown", {{"zone", zone.name}, {"reason", entry.error().message}});
            LiveZone gone{.entry = {.name = zone.name, .organisation = zone.organisation}, .gone = true};
            zones_.emplace(zone.name, std::move(gone));
            continue;
        }
        zones_.emplace(zone.name, LiveZone{std::move(zone.entry), *std::move(entry), zone.lease,
                                           clock_.steady_now() + zone.lease});
    }
    expire();
    return {};
}

Result<Registry::Invitation> Registry::invite(const OrganisationName& organisation, Duration lifetime) {
    if (!organisation.empty() && !is_valid_name(organisation))
        return invalid("must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit", "/organisation");
    for (auto at = rights_.begin(); at != rights_.end();) {
        if (at->second.expires >= clock_.now()) {
            ++at;
            continue;
        }
        if (auto gone = store_.rights().remove(at->first); !gone) return gone.error();
        at = rights_.erase(at);
    }
    if (rights_.size() >= limits::kMaxEnrolmentRights)
        return Error{ErrorCode::kTooManyRequests, "too many tokens are open; wait until some have run out", {}};
    const Result<std::string> fingerprint = trust_.fingerprint(config_.bundle);
    if (!fingerprint) return fingerprint.error();
    const std::string code = secrets_.fresh();
    const EnrolmentRight right{secrets_.digest(code), organisation, clock_.now() + lifetime, {}};
    if (auto ok = store_.rights().save(right); !ok) return ok.error();
    rights_[right.code_hash] = right;
    log_.info("token_made", {{"organisation", organisation.empty() ? "any" : organisation}});
    const JoinToken token{JoinToken::Kind::kZone,
                          organisation.empty() ? "any" : organisation,
                          code,
                          *fingerprint,
                          {CallerKind::kRegistry, config_.organisation, config_.name},
                          config_.url};
    return Invitation{to_text(token), right.expires};
}

Result<void> Registry::check_newer(const ZoneEntry& entry) {
    const Time latest = clock_.now() + kEntryClockTolerance;
    if (entry.issued > latest) {
        return Error{ErrorCode::kInvalidArgument,
                     clock_difference_text("zone '" + entry.name + "'", entry.issued - clock_.now(), "this registry's"),
                     "/issued_us"};
    }
    const auto known = zones_.find(entry.name);
    if (known == zones_.end()) return {};
    if (known->second.entry.organisation != entry.organisation) {
        if (is_live(known->second)) record_rival(known->second, entry);
        return Error{
            ErrorCode::kConflict,
            "zone name '" + entry.name + "' belongs to organisation '" + known->second.entry.organisation + "'",
            "/name"};
    }
    const Time before = known->second.entry.issued;
    // An entry of the future is of a clock that was wrong: it must not keep out what the mended clock signs.
    if (entry.issued >= before || before > clock_.now()) return {};
    return Error{ErrorCode::kConflict, "this entry is older than the one that is here; sign a new one", "/issued_us"};
}

Result<void> Registry::check_bundle(const ZoneEntry& entry) const {
    const std::optional<std::string> known = trust_.bundle(entry.organisation);
    if (!known) return {};
    const Result<std::string> ours = trust_.fingerprint(*known), theirs = trust_.fingerprint(entry.bundle);
    if (!ours) return ours.error();
    if (!theirs) return theirs.error();
    if (*ours == *theirs) return {};
    return Error{ErrorCode::kConflict,
                 "organisation '" + entry.organisation + "' is known here by the bundle " + *ours +
                     ", the entry brings " + *theirs + "; the registry's operator must remove the old one first",
                 "/bundle"};
}

Result<ZoneLease> Registry::accept(const SignedText& text, const ZoneEntry& entry) {
    const Duration lease = std::clamp(entry.lease, kMinLease, kMaxLease);
    if (auto reached = failpoint::reach(failpoint::Point::kRegistryAnnounceDecided); !reached) return reached.error();
    if (auto ok = store_.zones().save({entry.name, entry.organisation, text, lease}); !ok) return ok.error();
    const bool news = !zones_.contains(entry.name) || zones_.at(entry.name).gone;
    if (news) log_.info("zone_published", {{"zone", to_uri(zone_of(entry))}, {"url", entry.url}});
    LiveZone& live = zones_[entry.name];
    if (live.rival && live.rival->url == entry.url) live.rival.reset();
    live = {text, entry, lease, clock_.steady_now() + lease, false, live.rival, live.rival_at};
    if (auto reached = failpoint::reach(failpoint::Point::kRegistryAnnounceStored); !reached) return reached.error();
    return ZoneLease{entry.name, lease, rival_of(live)};
}

/// The end of an attempt with an address that was proved. The first scheduler of a zone keeps the entry for as long as
/// it serves at its address; one that moved, stopped or stands by does not hinder another. `check`: what must hold now.
void Registry::settle(const SignedText& text, const ZoneEntry& entry, const std::function<Result<void>()>& check,
                      const Respond<ZoneLease>& respond) {
    const auto finish = [this, text, entry, check, respond] {
        if (auto good = check(); !good) return respond(good.error());
        respond(accept(text, entry));
    };
    const auto known = zones_.find(entry.name);
    const bool has_other_address = known != zones_.end() && is_live(known->second) &&
                                   known->second.entry.standing != ZoneStanding::kLeft &&
                                   known->second.entry.url != entry.url;
    if (!has_other_address) return finish();
    prover_.prove(known->second.entry, [this, entry, url = known->second.entry.url, finish,
                                        respond](const Result<SchedulerRole>& found) {
        const auto listed = zones_.find(entry.name);
        const bool serves = found && *found == SchedulerRole::kActive && listed != zones_.end() &&
                            is_live(listed->second) && listed->second.entry.url == url;
        if (!serves) return finish();
        record_rival(listed->second, entry);
        respond(Error{ErrorCode::kConflict,
                      "another scheduler of zone '" + entry.name + "' is listed here and serves at " + url +
                          "; stop one of the two, or make another key and name for it; this one is listed within a "
                          "minute after the other has stopped",
                      "/url"});
    });
}

void Registry::enrol(const std::string& code, const SignedText& text, Respond<ZoneLease> respond) {
    const Result<ZoneEntry> entry = verify_(text);
    if (!entry) return respond(entry.error());
    const std::string hash = secrets_.digest(code);
    const std::string zone = to_uri(zone_of(*entry));
    const auto usable = [this, zone, organisation = entry->organisation](const std::string& digest) {
        const auto right = rights_.find(digest);
        return right != rights_.end() && right->second.expires >= clock_.now() &&
               (right->second.organisation.empty() || right->second.organisation == organisation) &&
               (right->second.used_by.empty() || right->second.used_by == zone);
    };
    if (!usable(hash)) return respond(no_such_code());
    if (auto good = check_newer(*entry); !good) return respond(good.error());
    if (auto good = check_bundle(*entry); !good) return respond(good.error());
    if (!zones_.contains(entry->name) && zones_.size() >= static_cast<std::size_t>(limits::kMaxZonesInRegistry))
        return respond(Error{ErrorCode::kTooManyRequests, "the registry is full", {}});
    const auto come_in = [this, hash, zone, usable, entry = *entry]() -> Result<void> {
        if (!usable(hash)) return no_such_code();  // two at once: one wins
        if (auto good = check_newer(entry); !good) return good;
        if (auto good = check_bundle(entry); !good) return good;
        EnrolmentRight right = rights_.at(hash);
        right.used_by = zone;
        if (auto ok = store_.rights().save(right); !ok) return ok;
        rights_[hash] = right;
        if (!trust_.bundle(entry.organisation)) {
            if (auto ok = store_.organisations().save({entry.organisation, entry.bundle, {}, clock_.now()}); !ok)
                return ok;
            if (auto ok = trust_.pin(entry.organisation, entry.bundle); !ok) return ok;
        }
        log_.info("zone_enrolled", {{"zone", zone}});
        return {};
    };
    prover_.prove(*entry, [this, text, entry = *entry, come_in, respond](const Result<SchedulerRole>& proved) {
        if (!proved) return respond(proved.error());
        settle(text, entry, come_in, respond);
    });
}

void Registry::publish(const Caller& caller, const SignedText& text, Respond<ZoneLease> respond) {
    const Result<ZoneEntry> entry = verify_(text);
    if (!entry) return respond(entry.error());
    if (!(zone_of(*entry) == caller))
        return respond(Error{ErrorCode::kDenied, "a zone may only change its own entry", "/name"});
    if (auto good = check_newer(*entry); !good) return respond(good.error());
    if (auto good = check_bundle(*entry); !good) return respond(good.error());
    const auto known = zones_.find(entry->name);
    if (known != zones_.end() && known->second.entry.url == entry->url) return respond(accept(text, *entry));
    const auto holds = [this, entry = *entry]() -> Result<void> {
        if (!is_enrolled(zone_of(entry)))
            return Error{ErrorCode::kDenied, "the registry's operator has removed this zone meanwhile", {}};
        return check_newer(entry);
    };
    prover_.prove(*entry, [this, text, entry = *entry, holds, respond](const Result<SchedulerRole>& proved) {
        if (!proved) return respond(proved.error());
        if (auto good = holds(); !good) return respond(good.error());
        settle(text, entry, holds, respond);
    });
}

Result<ZoneLease> Registry::renew(const ZoneName& zone) {
    const auto at = zones_.find(zone);
    if (at == zones_.end() || !is_live(at->second))
        return Error{ErrorCode::kNotFound, "no live entry of zone '" + zone + "'; publish it again", {}};
    at->second.until = clock_.steady_now() + at->second.lease;
    return ZoneLease{zone, at->second.lease, rival_of(at->second)};
}

Result<ZoneLease> Registry::leave(const ZoneName& zone) {
    const auto at = zones_.find(zone);
    if (at == zones_.end()) return Error{ErrorCode::kNotFound, "no entry of zone '" + zone + "'", {}};
    at->second.lease = kShownAfterLeaving;
    at->second.until =
        clock_.steady_now() + (at->second.entry.standing == ZoneStanding::kLeft ? kShownAfterLeaving : Duration{0});
    log_.info("zone_left", {{"zone", zone}});
    return ZoneLease{zone, kShownAfterLeaving};
}

std::vector<Registry::Enrolment> Registry::enrolments() const {
    std::vector<Enrolment> all;
    for (const auto& [name, live] : zones_)
        all.push_back({zone_of(live.entry), live.entry.url, is_live(live) && live.entry.standing != ZoneStanding::kLeft,
                       rival_of(live)});
    return all;
}

std::vector<OrganisationName> Registry::organisations() const {
    std::vector<OrganisationName> names = trust_.organisations();
    std::sort(names.begin(), names.end());
    return names;
}

Result<void> Registry::forget_rights(const std::function<bool(const EnrolmentRight&)>& which) {
    for (auto at = rights_.begin(); at != rights_.end();) {
        if (!which(at->second)) {
            ++at;
            continue;
        }
        if (auto gone = store_.rights().remove(at->first); !gone) return gone.error();
        at = rights_.erase(at);
    }
    return {};
}

Result<void> Registry::remove_zone(const ZoneName& zone) {
    const auto at = zones_.find(zone);
    if (at == zones_.end())
        return Error{
            ErrorCode::kNotFound, "no zone '" + zone + "' is enrolled; 'zbs-registry zone list' shows which are", {}};
    const std::string uri = to_uri(zone_of(at->second.entry));
    // Its code first: else it would come back by the one that it has.
    if (auto gone = forget_rights([&](const EnrolmentRight& right) { return right.used_by == uri; }); !gone)
        return gone;
    if (auto gone = store_.zones().remove(zone); !gone) return gone.error();
    zones_.erase(at);
    log_.info("zone_removed", {{"zone", uri}});
    return {};
}

Result<std::vector<ZoneName>> Registry::remove_organisation(const OrganisationName& organisation) {
    if (organisation == config_.organisation) {
        return Error{
            ErrorCode::kConflict,
            "'" + organisation +
                "' is the registry's own organisation; remove its zones one by one ('zbs-registry zone remove')",
            {}};
    }
    std::vector<ZoneName> zones;
    for (const auto& [name, live] : zones_) {
        if (live.entry.organisation == organisation) zones.push_back(name);
    }
    if (zones.empty() && !trust_.bundle(organisation)) {
        return Error{
            ErrorCode::kNotFound,
            "no organisation '" + organisation + "' is known; 'zbs-registry organisation list' shows which are",
            {}};
    }
    if (auto gone = forget_rights([&](const EnrolmentRight& right) { return right.organisation == organisation; });
        !gone)
        return gone.error();
    for (const ZoneName& zone : zones) {
        if (auto gone = remove_zone(zone); !gone) return gone.error();
    }
    if (auto gone = store_.organisations().remove(organisation); !gone) return gone.error();
    trust_.unpin(organisation);
    log_.info("organisation_removed", {{"organisation", organisation}});
    return zones;
}

bool Registry::is_enrolled(const Caller& zone) const {
    const auto at = zones_.find(ZoneName(zone.name));
    return zone.kind == CallerKind::kZone && at != zones_.end() && zone_of(at->second.entry) == zone;
}

std::optional<Caller> Registry::owner_of(const ZoneName& zone) const {
    const auto at = zones_.find(zone);
    if (at == zones_.end()) return std::nullopt;
    return zone_of(at->second.entry);
}

ZonePage Registry::list(const ZoneQuery& query) const {
    const auto fits = [&](const LiveZone& live) {
        if (!is_live(live)) return false;
        const std::vector<std::string>& categories = live.entry.categories;
        if (!query.category.empty() &&
            std::find(categories.begin(), categories.end(), query.category) == categories.end())
            return false;
        return query.interface_version == 0 || live.entry.interface_version == query.interface_version;
    };
    const std::size_t most =
        query.limit == 0 ? limits::kMaxZonesPerPage : std::min(query.limit, limits::kMaxZonesPerPage);
    ZonePage page;
    std::size_t bytes = 0;
    const ZoneName* last = nullptr;
    for (auto at = zones_.upper_bound(query.after); at != zones_.end(); ++at) {
        if (!fits(at->second)) continue;
        const SignedText& text = at->second.text;
        bytes += text.text.size() + text.chain.size() + text.signature.size();
        if (page.entries.size() == most || (last != nullptr && bytes > limits::kMaxPageBytes)) {
            page.next = *last;
            break;
        }
        page.entries.push_back(text);
        if (query.leases) page.left.push_back(at->second.until - clock_.steady_now());
        last = &at->first;
    }
    return page;
}

/// A zone that ran out of its lease is not listed any more, but stays enrolled: it comes back without a new token.
void Registry::expire() {
    for (auto& [name, live] : zones_) {
        if (live.rival && !rival_of(live)) {
            log_.info("identity_claim_ended", {{"zone", name}, {"rival_url", live.rival->url}});
            live.rival.reset();
        }
        if (live.gone || is_live(live)) continue;
        live.gone = true;
        log_.info("zone_expired", {{"zone", name}});
    }
    clock_.after(std::chrono::seconds{1}, [this] { expire(); });
}

}  // namespace zbs
