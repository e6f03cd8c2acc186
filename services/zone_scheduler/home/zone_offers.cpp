#include "services/zone_scheduler/home/zone_offers.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "algorithms/base/suggestion.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/trust/peer_service.hpp"

namespace zbs {
namespace {

/// Planning goes on without a silent zone, for all applications wait for its answers.
constexpr Duration kAnswersWithin = std::chrono::seconds{5};
/// The same for zones that were silent for so long the last time: one that drips its answers delays no plan twice.
constexpr Duration kSilentAnswersWithin = std::chrono::milliseconds{500};
constexpr const char* kDrains = "drains: it takes no new work now";

/// The answer to each of the questions that were asked in one call.
std::vector<Result<Capacity>> split(Result<Capacity> answer, std::size_t questions) {
    if (answer && answer->others.size() + 1 != questions)
        answer = Error{ErrorCode::kUnavailable, "has not answered every question", {}};
    if (!answer) return std::vector<Result<Capacity>>(questions, answer);
    std::vector<Capacity> others = std::exchange(answer->others, {});
    std::vector<Result<Capacity>> all = {std::move(answer)};
    const Capacity first = *all.front();
    for (Capacity& other : others) {
        other.zone = first.zone;
        other.within_zone = first.within_zone;
        other.links = first.links;
        other.queues = first.queues;
        other.max_overcommit = first.max_overcommit;
        all.emplace_back(std::move(other));
    }
    return all;
}

/// `zones` empty: all.
bool is_among(const std::vector<ZoneName>& zones, const ZoneName& zone) {
    return zones.empty() || std::ranges::find(zones, zone) != zones.end();
}

}  // namespace

ServiceAddress ZoneOffers::own_address() const { return {ports_.config.url, ports_.config.self()}; }

ServiceAddress ZoneOffers::address_of(const ZoneName& zone) const {
    if (zone == ports_.config.zone.name) return own_address();
    return ports_.peers.address_of(zone).value_or(ServiceAddress{});
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
    std::vector<std::vector<Offer>> offers;  ///< for each question
    std::set<ZoneName> missing;
    std::function<void(std::vector<std::vector<Offer>>)> done;  ///< empty once it was called

    void add(const Offer& to_all) {
        for (std::vector<Offer>& one : offers) one.push_back(to_all);
    }
    void finish() {
        if (!done || !missing.empty()) return;
        for (std::vector<Offer>& one : offers) std::ranges::sort(one, {}, &Offer::zone);
        std::exchange(done, {})(std::move(offers));
    }
};

bool ZoneOffers::go_together(const Question& one, const Question& other) {
    const ApplicationRequest &a = one.request, &b = other.request;
    return one.owner == other.owner && a.zones == b.zones && a.staging == b.staging &&
           needs_own_zone(a.launcher) == needs_own_zone(b.launcher);
}

CapacityRequest ZoneOffers::capacity_request(const std::vector<Question>& questions) const {
    std::vector<CapacityRequest> asked;
    for (const Question& question : questions) {
        const ApplicationRequest& request = question.request;
        asked.push_back({.user = question.owner, .processors = request.ranks, .walltime = request.walltime});
        asked.back().without = question.without;
        asked.back().share = request.share;
        asked.back().partition = request.partition;
        asked.back().grace = request.grace;
    }
    CapacityRequest first = std::move(asked.front());
    first.groups = ports_.groups_of(first.user);
    first.application = questions.front().request.id;
    first.staging = need_of(questions.front().request.staging, ports_.config.staging.shared_file_system);
    first.others.assign(std::move_iterator(asked.begin() + 1), std::move_iterator(asked.end()));
    return first;
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

void ZoneOffers::go_on_without(Collection& collection) const {
    for (const ZoneName& zone : std::exchange(collection.missing, {})) {
        const std::string rests = why_it_rests(zone);
        collection.add({zone, {}, rests.empty() ? "has not answered yet" : rests, true});
    }
    collection.finish();
}

/// Looks every 0.5 s, and goes on once only zones are missing that were silent the last time.
void ZoneOffers::pass_silent(const std::shared_ptr<Collection>& collection) {
    ports_.clock.after(kSilentAnswersWithin, [this, collection] {
        if (std::ranges::includes(silent_, collection->missing))
            go_on_without(*collection);
        else
            pass_silent(collection);
    });
}

void ZoneOffers::collect(const std::vector<Question>& questions,
                         std::function<void(std::vector<std::vector<Offer>>)> done) {
    ZBS_EXPECTS(!questions.empty() && questions.size() <= 1 + limits::kMaxOtherQuestions);
    const ApplicationRequest& request = questions.front().request;
    auto collection = std::make_shared<Collection>();
    collection->offers.resize(questions.size());
    collection->done = std::move(done);
    const bool only_here = needs_own_zone(request.launcher);
    const auto wanted = [&](const ZoneName& zone) {
        return only_here ? zone == ports_.config.zone.name : is_among(request.zones, zone);
    };
    const auto refuse = [&](const ZoneName& zone, const std::string& why, bool may_change, bool is_unasked = false) {
        collection->add({zone, {}, why, may_change, is_unasked});
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
    std::vector<int> overcommit;
    for (const Question& question : questions) overcommit.push_back(question.request.overcommit);
    CapacityRequest asked = capacity_request(questions);
    for (const ServiceAddress& address : ask) asked.zones.emplace_back(address.who.name);
    for (const ServiceAddress& address : ask) {
        const ZoneName zone(address.who.name);
        if (!wanted(zone)) {
            refuse(zone,
                   only_here ? std::string("launcher ") + to_string(request.launcher) + " works in the home zone only"
                             : "not among the zones asked for",
                   false, true);
        } else {
            collection->missing.insert(zone);
            ports_.transport.ask_capacity(
                address, asked,
                [this, collection, address, zone, overcommit, rests = why_it_rests(zone),
                 asked_at = ports_.clock.steady_now()](Result<Capacity> answer) {
                    if (ports_.clock.steady_now() - asked_at < kAnswersWithin) silent_.erase(zone);
                    if (!answer && (is_passing(answer.error()) || answer.error().code == ErrorCode::kDenied))
                        ports_.peers.recheck(zone);
                    if (collection->missing.erase(zone) == 0) return;  // too late
                    std::vector<Result<Capacity>> answers = split(std::move(answer), collection->offers.size());
                    for (std::size_t i = 0; i < answers.size(); ++i) {
                        Offer& offer =
                            collection->offers[i].emplace_back(offer_of(address, rests, std::move(answers[i])));
                        count_ranks(offer, overcommit[i]);
                    }
                    collection->finish();
                });
        }
    }
    ports_.clock.after(Duration{0}, [collection] { collection->finish(); });  // where nobody is asked
    pass_silent(collection);
    ports_.clock.after(kAnswersWithin, [this, collection] {
        silent_.insert(collection->missing.begin(), collection->missing.end());
        go_on_without(*collection);
    });
}

}  // namespace zbs
