#include "services/zone_scheduler/domain/peer_service.hpp"

#include <algorithm>

namespace zbs {
namespace {
constexpr Duration kAskAgain = std::chrono::seconds{30};
}  // namespace

PeerService::PeerService(const ZoneConfig& config, Clock& clock, ZoneStore& store, ZoneTransport& transport, Log& log)
    : config_(config),
      clock_(clock),
      store_(store),
      transport_(transport),
      log_(log) {}

void PeerService::found(const std::vector<ZoneEntry>& entries) {
    for (const ZoneEntry& entry : entries) {
        if (entry.name != config_.zone.name) ask(entry);
    }
}

Result<void> PeerService::resume() {
    Result<std::vector<Peer>> known = store_.load_peers();
    if (!known) return known.error();
    for (Peer& peer : *known) peers_.emplace(peer.zone, std::move(peer));
    return {};
}

void PeerService::ask(const ZoneEntry& entry) {
    const auto known = peers_.find(entry.name);
    const auto asked = asked_.find(entry.name);
    const bool same_address = known != peers_.end() && known->second.url == entry.url;
    if (same_address && asked != asked_.end() && clock_.steady_now() - asked->second < kAskAgain) return;
    asked_[entry.name] = clock_.steady_now();
    const PeeringRequest request{config_.zone.name, config_.organisation, config_.url, kInterfaceVersion};
    transport_.request_peering(
        {entry.url, {CallerKind::kZone, entry.organisation, entry.name}}, request,
        [this, entry](const Result<PeeringAnswer>& answer) {
            if (!answer) {
                asked_.erase(entry.name);
                log_.warn("peering_failed", {{"zone", entry.name}, {"reason", answer.error().message}});
                return;
            }
            if (answer->zone != entry.name) {
                log_.warn("peering_failed",
                          {{"zone", entry.name}, {"reason", "another zone answered: " + answer->zone}});
                return;
            }
            Peer peer{.zone = entry.name, .organisation = entry.organisation, .url = entry.url};
            if (const auto at = peers_.find(entry.name); at != peers_.end())
                peer.we_accept_them = at->second.we_accept_them;
            peer.they_accept_us = answer->state;
            peer.reason = answer->reason;
            peer.last_heard = clock_.now();
            save(peer);
        });
}

void PeerService::save(const Peer& peer) {
    if (auto ok = store_.save(peer); !ok) {
        log_.warn("store_failed", {{"peer", peer.zone}, {"reason", ok.error().message}});
        return;
    }
    const auto at = peers_.find(peer.zone);
    if (at == peers_.end() || at->second.they_accept_us != peer.they_accept_us ||
        at->second.we_accept_them != peer.we_accept_them) {
        log_.info("peer", {{"zone", peer.zone},
                           {"organisation", peer.organisation},
                           {"they_accept_us", to_string(peer.they_accept_us)},
                           {"we_accept_them", to_string(peer.we_accept_them)}});
    }
    peers_[peer.zone] = peer;
}

Result<PeeringAnswer> PeerService::answer(const Caller& caller, const PeeringRequest& request) {
    if (caller.kind != CallerKind::kZone) return Error{ErrorCode::kUnauthenticated, "only zones ask for peering", {}};
    if (caller.organisation != request.organisation || caller.name != request.zone) {
        return Error{ErrorCode::kDenied, "the request names another zone than the caller", "/zone"};
    }
    PeeringAnswer answer{config_.zone.name, config_.organisation, PeeringState::kAccepted, {}};
    const bool listed =
        request.organisation == config_.organisation ||
        std::find(config_.accept.begin(), config_.accept.end(), request.organisation) != config_.accept.end();
    if (request.interface_version != kInterfaceVersion) {
        answer.state = PeeringState::kRejected;
        answer.reason = "interface version " + std::to_string(request.interface_version) +
                        " is not spoken here; this zone speaks " + std::to_string(kInterfaceVersion);
    } else if (!listed) {
        answer.state = PeeringState::kRejected;
        answer.reason = "organisation '" + request.organisation + "' is not accepted here; ask " + config_.contact;
    }
    if (request.zone == config_.zone.name)
        return Error{ErrorCode::kConflict, "this zone's own name is '" + request.zone + "'", "/zone"};
    const bool newcomer = !peers_.contains(request.zone);
    if (answer.state != PeeringState::kAccepted && newcomer)
        return answer;  // a stranger leaves no trace and takes no name
    Peer peer{.zone = request.zone, .organisation = request.organisation, .url = request.url};
    if (const auto at = peers_.find(request.zone); at != peers_.end()) {
        if (at->second.organisation != request.organisation) {
            return Error{ErrorCode::kConflict,
                         "a zone named '" + request.zone + "' of another organisation is a peer already", "/zone"};
        }
        peer = at->second;
        peer.url = request.url;
    }
    peer.we_accept_them = answer.state;
    peer.last_heard = clock_.now();
    save(peer);
    return answer;
}

bool PeerService::accepts(const Caller& caller) const {
    if (caller.kind != CallerKind::kZone) return false;
    return caller.organisation == config_.organisation ||
           std::find(config_.accept.begin(), config_.accept.end(), caller.organisation) != config_.accept.end();
}

std::vector<Peer> PeerService::peers() const {
    std::vector<Peer> all;
    for (const auto& [zone, peer] : peers_) all.push_back(peer);
    return all;
}

}  // namespace zbs
