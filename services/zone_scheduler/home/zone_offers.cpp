#include "services/zone_scheduler/home/zone_offers.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/base/suggestion.hpp"
#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/trust/peer_service.hpp"

namespace zbs {
namespace {

/// Planning goes on without a silent zone, for all applications wait for its answers.
constexpr Duration kAnswersWithin = std::chrono::seconds{5};
constexpr const char* kDrains = "drains: it takes no new work now";

}  // namespace

ServiceAddress ZoneOffers::own_address() const { return {ports_.config.url, ports_.config.self()}; }

ServiceAddress ZoneOffers::address_of(const ZoneName& zone) const {
    if (zone == ports_.config.zone.name) return own_address();
    for (const Peer& peer : ports_.peers.peers()) {
        if (peer.zone == zone) return zbs::address_of(peer);
    }
    return {};
}

std::string ZoneOffers::why_it_rests(const ZoneName& zone) const {
    if (zone == ports_.config.zone.name) return ports_.drains() ? kDrains : "";
    const ZoneStanding standing = ports_.peers.standing(zone);
    if (standing == ZoneStanding::kActive) return {};
    return standing == ZoneStanding::kDrain ? kDrains : "has stopped in order and is not back yet";
}

Result<void> ZoneOffers::check_zones(const ApplicationRequest& request) const {
    if (request.zones.empty() || (!ports_.config.registry.url.empty() && !ports_.peers.has_listing())) return {};
    std::set<ZoneName> known = ports_.peers.zone_names();
    known.insert(ports_.config.name());
    for (std::size_t i = 0; i < request.zones.size(); ++i) {
        if (known.contains(request.zones[i])) continue;
        const std::vector<std::string_view> names(known.begin(), known.end());
        return invalid("zone '" + request.zones[i] + "' is not known here" + did_you_mean(request.zones[i], names),
                       "/zones/" + std::to_string(i));
    }
    return {};
}

struct ZoneOffers::Collection {
    std::vector<Offer> offers;
    std::set<ZoneName> missing;
    std::function<void(std::vector<Offer>)> done;  ///< empty once it was called

    void finish() {
        if (!done || !missing.empty()) return;
        std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.zone < b.zone; });
        std::exchange(done, {})(std::move(offers));
    }
};

CapacityRequest ZoneOffers::capacity_request(const Question& question) const {
    const ApplicationRequest& request = question.request;
    CapacityRequest asked{.user = question.owner, .processors = request.ranks, .walltime = request.walltime};
    asked.groups = ports_.groups_of(question.owner);
    asked.without = question.without;
    asked.share = request.share;
    asked.grace = request.grace;
    asked.application = request.id;
    asked.staging = need_of(request.staging, ports_.config.staging.shared_file_system);
    return asked;
}

/// `rests`: why the zone took no new work when it was asked.
Offer ZoneOffers::offer_of(const ServiceAddress& address, const std::string& rests, Result<Capacity> answer) const {
    const ZoneName zone(address.who.name);
    // A zone that accepted this organisation and denies it now: its answer to the next request for peering shows
    // whether for good. A user without rights there is no error.
    const bool passes = !answer && (is_passing(answer.error()) || answer.error().code == ErrorCode::kDenied);
    Offer offer{zone, {}, {}, passes};
    if (!answer) {
        offer.refusal = rests.empty() ? answer.error().message : rests;
    } else if (answer->zone != zone) {
        offer.refusal = "another zone answered at its address";
        offer.may_change = true;
    } else {
        offer.capacity = *std::move(answer);
    }
    offer.is_doubtful = ports_.is_doubtful(address.who.organisation);
    if (!offer.capacity) return offer;
    if (const auto left = backoff_.left(zone, ports_.clock.steady_now()))
        offer.left_out = "did not start the last part that it had committed; it is left out for " +
                         std::to_string(static_cast<int>(to_seconds(*left)) + 1) + " s";
    if (!rests.empty()) {
        give_nothing_now(*offer.capacity);
        offer.refusal = rests;
    }
    return offer;
}

void ZoneOffers::collect(const Question& question, std::function<void(std::vector<Offer>)> done) {
    const ApplicationRequest& request = question.request;
    auto collection = std::make_shared<Collection>();
    collection->done = std::move(done);
    const bool only_here = needs_own_zone(request.launcher);
    const auto wanted = [&](const ZoneName& zone) {
        if (only_here) return zone == ports_.config.zone.name;
        return request.zones.empty() ||
               std::find(request.zones.begin(), request.zones.end(), zone) != request.zones.end();
    };
    const auto refuse = [&](const ZoneName& zone, const std::string& why, bool may_change, bool is_unasked = false) {
        collection->offers.push_back({zone, {}, why, may_change, is_unasked});
    };
    std::vector<ServiceAddress> ask = {own_address()};
    std::set<ZoneName> known = {ports_.config.name()};
    for (const Peer& peer : ports_.peers.peers()) {
        known.insert(peer.zone);
        if (peer.outbound == PeeringState::kAccepted)
            ask.push_back(zbs::address_of(peer));
        else if (wanted(peer.zone))
            refuse(peer.zone,
                   std::string("has not accepted this organisation (") +
                       (peer.outbound ? to_string(*peer.outbound) : "not asked yet") + ")" +
                       (peer.reason.empty() ? "" : ": " + peer.reason),
                   peer.outbound == PeeringState::kSuspended);
    }
    for (const ZoneName& zone : request.zones)
        if (!known.contains(zone)) refuse(zone, "no such zone is known here", false);
    CapacityRequest asked = capacity_request(question);
    for (const ServiceAddress& address : ask) asked.zones.emplace_back(address.who.name);
    for (const ServiceAddress& address : ask) {
        const ZoneName zone(address.who.name);
        if (!wanted(zone)) {
            refuse(zone,
                   only_here ? std::string("launcher ") + to_string(request.launcher) + " works in the home zone only"
                             : "not among the zones asked for",
                   false, true);
        } else if (question.excluded.contains(zone)) {
            refuse(zone, kRefusedBefore, true);
        } else {
            collection->missing.insert(zone);
            ports_.transport.ask_capacity(
                address, asked, [this, collection, address, zone, rests = why_it_rests(zone)](Result<Capacity> answer) {
                    if (!answer && (is_passing(answer.error()) || answer.error().code == ErrorCode::kDenied))
                        ports_.peers.recheck(zone);
                    if (collection->missing.erase(zone) == 0) return;  // too late
                    collection->offers.push_back(offer_of(address, rests, std::move(answer)));
                    collection->finish();
                });
        }
    }
    ports_.clock.after(Duration{0}, [collection] { collection->finish(); });  // where nobody is asked
    ports_.clock.after(kAnswersWithin, [this, collection] {
        for (const ZoneName& zone : std::exchange(collection->missing, {})) {
            const std::string rests = why_it_rests(zone);
            collection->offers.push_back({zone, {}, rests.empty() ? "has not answered yet" : rests, true});
        }
        collection->finish();
    });
}

}  // namespace zbs
