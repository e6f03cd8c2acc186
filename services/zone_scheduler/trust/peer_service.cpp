#include "services/zone_scheduler/trust/peer_service.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "services/common/messages/registry.hpp"
#include "services/zone_scheduler/trust/delegation_service.hpp"
#include "services/zone_scheduler/trust/peering_request.hpp"

namespace zbs {
namespace {
constexpr Duration kAskAgain = std::chrono::seconds{30};
constexpr Duration kAskWhileWaiting = std::chrono::seconds{5};  // for an operator there, who has the user at the phone

/// The one word for how an attempt to ask a zone ended. A zone that is silent shows no clock; a certificate may count
/// for nothing because of one.
PeerState state_after(const std::optional<Error>& fault, Duration clock_ahead,
                      const std::optional<PeeringState>& outbound) {
    if (fault && (fault->code == ErrorCode::kUnavailable || fault->code == ErrorCode::kTimeout))
        return PeerState::kDown;
    if (std::chrono::abs(clock_ahead) > DelegationService::kProofLifetime) return PeerState::kClock;
    if (fault) return fault->code == ErrorCode::kUnauthenticated ? PeerState::kCertificate : PeerState::kRefusesUs;
    if (outbound == PeeringState::kAccepted) return PeerState::kUp;
    return outbound == PeeringState::kRequested ? PeerState::kWaits : PeerState::kRefusesUs;
}

using ListedKey = std::pair<std::string_view, std::string_view>;
/// What the registry's list is sorted by.
ListedKey listed_key(const ZoneEntry& entry) { return {entry.name, entry.organisation}; }

}  // namespace

PeerService::PeerService(const ZoneConfig& config, Clock& clock, PeerStore& store, TrustTransport& transport,
                         const OwnKeys* keys, const TrustBundles& trust, PeeringService& peerings, Log& log)
    : config_(config),
      clock_(clock),
      store_(store),
      transport_(transport),
      keys_(keys),
      trust_(trust),
      peerings_(peerings),
      log_(log) {}

Result<void> PeerService::resume() {
    Result<std::vector<Peer>> known = store_.load_peers();
    if (!known) return known.error();
    for (Peer& peer : *known) peers_.emplace(peer.zone, std::move(peer));
    set_asks(config_.asks);
    return {};
}

void PeerService::set_asks(const std::vector<AskedOrganisation>& asks) {
    asks_ = asks;
    ask_logged_.clear();
    std::erase_if(asks_, [this](const AskedOrganisation& wish) {
        return !wish.bundle.empty() && believe(wish).has_value();  // needs no registry
    });
}

void PeerService::settle_asks() {
    std::erase_if(asks_, [this](const AskedOrganisation& wish) {
        const Result<void> settled = believe(wish);
        if (settled) {
            log_.info("asks", {{"organisation", wish.organisation}});
            return true;
        }
        std::string& logged = ask_logged_[wish.organisation];
        if (logged != settled.error().message) {
            logged = settled.error().message;
            log_.warn("not_asked", {{"organisation", wish.organisation}, {"reason", logged}});
        }
        return false;
    });
}

void PeerService::found(const std::vector<ZoneEntry>& entries) {
    listed_ = entries;
    std::ranges::stable_sort(listed_, {}, listed_key);
    listed_at_ = clock_.steady_now();
    settle_asks();
    for (const ZoneEntry& entry : entries) {
        if (entry.name == config_.zone.name && entry.organisation == config_.organisation) continue;
        // Home must know whom it talks to: an organisation that nobody here vouched for is not asked.
        if (!is_believed(entry.organisation) || !may_have_name(entry)) continue;
        if (entry.standing != ZoneStanding::kActive) {
            Resting& resting = resting_.try_emplace(entry.name, entry.standing, *listed_at_).first->second;
            if (resting.standing != entry.standing) resting = {entry.standing, *listed_at_};
            continue;
        }
        resting_.erase(entry.name);
        ask(entry);
    }
}

void PeerService::ask_known() {
    std::vector<ZoneEntry> known;  // an answer may change the peers
    for (const auto& [name, peer] : peers_)
        if (is_believed(peer.organisation) && !resting_.contains(name))
            known.push_back({.name = name, .organisation = peer.organisation, .url = peer.url});
    for (const ZoneEntry& entry : known) ask(entry);
}

bool PeerService::is_believed(const OrganisationName& organisation) const {
    return organisation == config_.organisation || trust_.bundle(organisation).has_value();
}

/// Whose zone the name means here: this zone, and peers until their organisation is removed.
std::optional<OrganisationName> PeerService::holder_of(const ZoneName& name) const {
    if (name == config_.name()) return config_.organisation;
    const auto peer = peers_.find(name);
    if (peer != peers_.end() && is_believed(peer->second.organisation)) return peer->second.organisation;
    const auto accepted = peerings_.find_accepted(name);
    return accepted ? std::optional(accepted->organisation) : std::nullopt;
}

/// As the registry listed it last; null where it did not.
const ZoneEntry* PeerService::entry_of(const ZoneName& zone, const OrganisationName& organisation) const {
    const auto at = std::ranges::lower_bound(listed_, ListedKey(zone, organisation), {}, listed_key);
    return at != listed_.end() && at->name == zone && at->organisation == organisation ? &*at : nullptr;
}

/// False where the name means a zone of another organisation: neither a registry that lies nor a peer puts its own zone
/// in the place of somebody else's.
bool PeerService::may_have_name(const ZoneEntry& entry) {
    const std::optional<OrganisationName> holder = holder_of(entry.name);
    if (!holder || *holder == entry.organisation) return true;
    if (!clash_logged_.emplace(entry.name, entry.organisation).second) return false;
    const bool own = entry.name == config_.zone.name;
    log_.warn("peer_name_taken", {{"zone", entry.name},
                                  {"organisation", entry.organisation},
                                  {"reason", own ? "this zone has that name; the other one is ignored"
                                                 : "a zone of '" + *holder +
                                                       "' has that name here; the other one is ignored ('zbs-zone peer "
                                                       "remove " +
                                                       *holder + "' forgets the known one)"}});
    return false;
}

/// From then on every look asks its zones.
Result<void> PeerService::believe(const AskedOrganisation& wish) {
    const auto& [organisation, fingerprint, bundle] = wish;
    std::string shown = bundle;
    for (const ZoneEntry& entry : listed_) {
        if (!shown.empty() || entry.organisation != organisation) continue;
        const Result<std::string> print = trust_.fingerprint(entry.bundle);
        if (print && *print == fingerprint) shown = entry.bundle;
    }
    if (organisation == config_.organisation) return invalid("is this zone's own organisation", "/organisation");
    const std::optional<std::string> pinned = trust_.bundle(organisation);
    if (shown.empty() && pinned && !fingerprint.empty()) {
        const Result<std::string> print = trust_.fingerprint(*pinned);
        if (!print || *print != fingerprint)
            return invalid("is not that of the bundle that is believed here, which is " +
                               (print ? *print : std::string("unreadable")) + "; 'zbs-zone peer remove " +
                               organisation + "' forgets it",
                           "/fingerprint");
    }
    if (shown.empty() && !pinned) {
        const std::string no_zone = "the registry shows no zone of '" + organisation + "'";
        if (fingerprint.empty())
            return Error{ErrorCode::kNotFound, no_zone + "; give its bundle, or the fingerprint of one that it shows",
                         "/organisation"};
        return Error{ErrorCode::kNotFound,
                     no_zone + " with a bundle of this fingerprint; check it, or give the bundle itself",
                     "/fingerprint"};
    }
    if (!shown.empty()) {
        const Result<std::string> print = trust_.fingerprint(shown);
        if (!print) return invalid(print.error().message, "/bundle");
        if (!fingerprint.empty() && *print != fingerprint)
            return invalid("is not that of the bundle, which is " + *print, "/fingerprint");
        return peerings_.believe(organisation, shown);
    }
    return {};
}

Result<void> PeerService::ask_organisation(const OrganisationName& organisation, const std::string& fingerprint,
                                           const std::string& bundle) {
    if (auto believed = believe({organisation, fingerprint, bundle}); !believed) return believed;
    for (const ZoneEntry& entry : listed_) {
        if (entry.organisation != organisation || !may_have_name(entry)) continue;
        asked_.erase(entry.name);
        ask(entry);
    }
    return {};
}

void PeerService::recheck(const ZoneName& zone) {
    const auto peer = peers_.find(zone);
    if (peer == peers_.end() || peer->second.outbound != PeeringState::kAccepted) return;
    const auto last = attempts_.find(zone);
    if (last != attempts_.end() && last->second.fault) return;  // known, and asked again with each list of the registry
    const auto asked = asked_.find(zone);
    if (asked != asked_.end() && clock_.steady_now() - asked->second < kAskWhileWaiting) return;
    asked_.erase(zone);
    ask({.name = zone, .organisation = peer->second.organisation, .url = peer->second.url});
}

void PeerService::ask(const ZoneEntry& entry) {
    const auto known = peers_.find(entry.name);
    const auto asked = asked_.find(entry.name);
    const bool same_address =
        known != peers_.end() && known->second.url == entry.url && known->second.organisation == entry.organisation;
    const bool waits = known != peers_.end() && known->second.outbound == PeeringState::kRequested;
    const Duration pause = waits ? kAskWhileWaiting : kAskAgain;
    if (same_address && asked != asked_.end() && clock_.steady_now() - asked->second < pause) return;
    asked_[entry.name] = clock_.steady_now();
    const Caller zone{CallerKind::kZone, entry.organisation, entry.name};
    PeeringRequest request{.zone = config_.name(), .organisation = config_.organisation, .url = config_.url};
    if (entry.organisation != config_.organisation && keys_ != nullptr) {
        Result<PeeringRequest> proven = make_peering_request(request, zone, clock_.now(), *keys_, trust_);
        if (!proven) return log_.warn("peering_failed", {{"zone", entry.name}, {"reason", proven.error().message}});
        request = *std::move(proven);
    }
    transport_.request_peering({entry.url, zone}, request, [this, entry, zone](const Result<PeeringAnswer>& answer) {
        Attempt attempt{{entry.url, zone}, clock_.steady_now()};
        if (!answer)
            attempt.fault = answer.error();
        else if (answer->zone != entry.name)
            attempt.fault = Error{ErrorCode::kUnauthenticated, "another zone answered: " + answer->zone, {}};
        attempts_[entry.name] = attempt;
        if (attempt.fault) {
            if (!answer) asked_.erase(entry.name);
            log_.warn("peering_failed", {{"zone", entry.name}, {"reason", attempt.fault->message}});
            return;
        }
        if (!may_have_name(entry)) return;  // another answered first
        Peer peer{.zone = entry.name, .organisation = entry.organisation, .url = entry.url};
        peer.outbound = answer->state;
        peer.reason = answer->reason;
        peer.last_heard = clock_.now();
        save(peer);
    });
}

void PeerService::record_clock(const Caller& zone, Duration ahead) {
    if (ahead == Duration{0}) {
        clocks_ahead_.erase(to_uri(zone));
        return;
    }
    if (std::chrono::abs(ahead) < kClockDifferenceShown) return;  // so near the limit it comes and goes
    if (clocks_ahead_.insert_or_assign(to_uri(zone), ahead).second)
        log_.warn("peer_clock", {{"zone", zone.name},
                                 {"reason", clock_difference_text("zone '" + zone.name + "'", ahead, "this zone's")}});
}

Duration PeerService::clock_ahead(const Caller& zone) const {
    const auto at = clocks_ahead_.find(to_uri(zone));
    return at == clocks_ahead_.end() ? Duration{0} : at->second;
}

PeerCondition PeerService::condition_of(const Peer& peer) const {
    const Duration now = clock_.steady_now();
    const auto at = attempts_.find(peer.zone);
    const Attempt* const last = at == attempts_.end() ? nullptr : &at->second;
    PeerCondition condition{.clock_ahead = clock_ahead(zbs::address_of(peer).who)};
    const bool is_listed = entry_of(peer.zone, peer.organisation) != nullptr;
    if (is_listed && standing(peer.zone) != ZoneStanding::kActive) {
        condition.state = standing(peer.zone) == ZoneStanding::kDrain ? PeerState::kDraining : PeerState::kLeft;
        condition.age = now - resting_.at(peer.zone).since;
    } else if (listed_at_ && !is_listed && (last == nullptr || now - last->at > kAskAgain)) {
        condition.state = PeerState::kUnlisted;
        condition.age = now - *listed_at_;
    } else if (last == nullptr) {
        condition.age = std::max(clock_.now() - peer.last_heard, Duration{0});
    } else {
        condition.state = state_after(last->fault, condition.clock_ahead, peer.outbound);
        condition.age = now - last->at;
    }
    return condition;
}

void PeerService::save(const Peer& peer) {
    const auto at = peers_.find(peer.zone);
    const bool news = at == peers_.end() || at->second.outbound != peer.outbound;
    if (auto ok = store_.save(peer); !ok) {
        log_.warn("store_failed", {{"peer", peer.zone}, {"reason", ok.error().message}});
        return;
    }
    if (news) {
        log_.info("peer", {{"zone", peer.zone},
                           {"organisation", peer.organisation},
                           {"outbound", direction_word(peer.outbound)},
                           {"reason", peer.reason}});
    }
    peers_[peer.zone] = peer;
}

std::vector<Peer> PeerService::peers() const {
    std::map<ZoneName, Peer> all = peers_;
    for (const auto& [organisation, zone] : peerings_.accepted_zones()) {
        Peer peer{.zone = zone.name, .organisation = organisation, .url = zone.url, .last_heard = zone.seen};
        all.emplace(zone.name, std::move(peer));  // who asked us, and was not asked by us yet
    }
    for (const auto& [name, attempt] : attempts_) {
        if (attempt.fault && is_believed(attempt.to.who.organisation))  // no attempt may have succeeded yet
            all.emplace(name, Peer{.zone = name, .organisation = attempt.to.who.organisation, .url = attempt.to.url});
    }
    std::vector<Peer> list;
    for (auto& [name, peer] : all) {
        peer.inbound = peerings_.state_of(peer.organisation);
        const ZoneEntry* const listed = entry_of(peer.zone, peer.organisation);
        if (listed != nullptr) {
            peer.leased_until = listed->leased_until;
            peer.categories = listed->categories;
        }
        peer.condition = condition_of(peer);
        if (const auto last = attempts_.find(name); last != attempts_.end() && last->second.fault) {
            peer.reason = last->second.fault->message;
            if (peer.condition->state == PeerState::kDown && listed != nullptr)
                peer.reason += "; the registry lists the zone at " + listed->url;
        }
        if (peer.condition->clock_ahead != Duration{0})
            peer.reason += (peer.reason.empty() ? "" : "; ") +
                           clock_difference_text("zone '" + name + "'", peer.condition->clock_ahead, "this zone's");
        list.push_back(std::move(peer));
    }
    return list;
}

std::optional<ServiceAddress> PeerService::address_of(const ZoneName& zone) const {
    if (const auto peer = peers_.find(zone); peer != peers_.end()) return zbs::address_of(peer->second);
    if (const auto accepted = peerings_.find_accepted(zone))
        return ServiceAddress{accepted->zone.url, {CallerKind::kZone, accepted->organisation, zone}};
    const auto attempt = attempts_.find(zone);
    const bool is_known =
        attempt != attempts_.end() && attempt->second.fault && is_believed(attempt->second.to.who.organisation);
    return is_known ? std::optional(attempt->second.to) : std::nullopt;
}

std::set<ZoneName> PeerService::zone_names() const {
    std::set<ZoneName> names;
    for (const Peer& peer : peers()) names.insert(peer.zone);
    for (const ZoneEntry& entry : listed_) names.insert(entry.name);
    return names;
}

}  // namespace zbs
