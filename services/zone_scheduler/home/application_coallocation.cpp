// ApplicationService from `accepted` to `committed`: offers, plan, hold, commit, and giving back.
#include <algorithm>
#include <utility>

#include "algorithms/base/suggestion.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/zone_scheduler/home/application_run.hpp"
#include "services/zone_scheduler/trust/delegation_service.hpp"
#include "services/zone_scheduler/trust/peer_service.hpp"

namespace zbs {
namespace {

constexpr Duration kReleaseRetryMax = std::chrono::seconds{30};
constexpr int kMaxDenials = 5;
/// How long a zone is not asked for an earlier start after it has refused one it had offered: doubled each time.
constexpr Duration kFirstBackoff = std::chrono::seconds{1};
constexpr int kMaxBackoffs = 8;
constexpr Duration kShortest{1};
constexpr Duration kChoiceKept = std::chrono::minutes{1};
constexpr Duration kSoon = std::chrono::seconds{1};
/// For zones to say what they offer. Planning goes on without a silent one, for all applications wait for its answers.
constexpr Duration kAnswersWithin = std::chrono::seconds{5};
constexpr const char* kDrains = "drains: it takes no new work now";

/// Random, twice as long on average with every round, up to 10 s: the more homes want the same, the more they spread.
Duration back_off(int round, Rng& rng) {
    const std::uint64_t most = std::min<std::uint64_t>(200'000ULL << std::min(round, 10), 10'000'000);
    return Duration{static_cast<std::int64_t>(50'000 + rng.below(most))};
}

/// Whether the zone will not take this part of this user, however often it is asked: no right, no delegation.
bool is_denial(const Error& error) {
    return error.code == ErrorCode::kDenied || error.code == ErrorCode::kUnauthenticated ||
           error.code == ErrorCode::kInvalidArgument;
}

/// Steady times: the common start, none where it is at once; when the hold was asked for, when the answer came.
struct HoldTimes {
    std::optional<Duration> start;
    Duration asked{}, answered{};
};

/// The fault of the start that the zone promised; empty where it has none. The zone sent the time left until then at
/// some moment between question and answer. A difference larger than that interval means another start than the
/// requested one; a difference that a late answer may explain must not be more than the launch can wait.
std::string start_fault(const PartStatus& held, const HoldTimes& times, Duration launch_can_wait) {
    if (!times.start)
        return held.starts_in == Duration{0} ? "" : "its hold is for a later start, and it was asked for one at once";
    const Duration late = times.asked + held.starts_in - *times.start;
    const Duration early = *times.start - times.answered - held.starts_in;
    const Duration surely = std::max(late, early);
    const auto seconds = [](Duration d) { return std::to_string(to_seconds(d)) + " s"; };
    if (surely > kClockDrift)
        return "its hold is for another start than the common one, " + seconds(surely) +
               (late > early ? " later" : " earlier");
    if (surely + (times.answered - times.asked) > launch_can_wait)
        return "it took " + seconds(times.answered - times.asked) +
               " to hold, so when its part starts is not known well enough";
    return {};
}

}  // namespace

void ApplicationService::record_answer(const std::shared_ptr<Run>& run, const ZoneName& zone, const char* what, bool ok,
                                       const std::string& answer) {
    add_event(
        run->app.status.events,
        {.at = clock_.now(), .last = {}, .round = run->round, .zone = zone, .what = what, .answer = answer, .ok = ok});
}

void ApplicationService::record_offers(const std::shared_ptr<Run>& run, const std::vector<Offer>& offers) {
    for (const Offer& offer : offers) {
        if (!offer.refusal.empty()) {
            record_answer(run, offer.zone, "capacity", false, offer.refusal);
            continue;
        }
        const Capacity& c = *offer.capacity;
        record_answer(run, offer.zone, "capacity", c.processors > 0,
                      c.total_processors == 0 ? "gives this user nothing"
                                              : std::to_string(c.processors) + " of " +
                                                    std::to_string(c.total_processors) + " processors are free");
    }
}

/// Empty for a zone that takes new work.
std::string ApplicationService::why_it_rests(const ZoneName& zone) const {
    if (zone == config_.zone.name) return drains_() ? kDrains : "";
    const ZoneStanding standing = peers_.standing(zone);
    if (standing == ZoneStanding::kActive) return {};
    return standing == ZoneStanding::kDrain ? kDrains : "has stopped in order and is not back yet";
}

/// Refuses a name that no zone has; a zone that is away or rests is known. Nothing is refused until the registry has
/// listed the zones. Errors: kInvalidArgument, with the nearest name.
Result<void> ApplicationService::check_zones(const ApplicationRequest& request) const {
    if (request.zones.empty() || (!config_.registry.url.empty() && !peers_.has_listing())) return {};
    std::set<ZoneName> known = peers_.zone_names();
    known.insert(config_.name());
    for (std::size_t i = 0; i < request.zones.size(); ++i) {
        if (known.contains(request.zones[i])) continue;
        const std::vector<std::string_view> names(known.begin(), known.end());
        return invalid("zone '" + request.zones[i] + "' is not known here" + did_you_mean(request.zones[i], names),
                       "/zones/" + std::to_string(i));
    }
    return {};
}

void ApplicationService::collect_offers(const Caller& owner, const ApplicationRequest& request,
                                        const std::set<ZoneName>& excluded, const std::optional<ApplicationId>& without,
                                        std::function<void(std::vector<Offer>)> done) {
    struct Collection {
        std::vector<Offer> offers;
        std::set<ZoneName> missing;
        std::function<void(std::vector<Offer>)> done;  ///< empty once it was called
    };
    auto collection = std::make_shared<Collection>();
    collection->done = std::move(done);
    const bool only_here = needs_own_zone(request.launcher);
    const auto wanted = [&](const ZoneName& zone) {
        if (only_here) return zone == config_.zone.name;
        return request.zones.empty() ||
               std::find(request.zones.begin(), request.zones.end(), zone) != request.zones.end();
    };
    std::vector<ServiceAddress> ask = {own_address()};
    std::vector<ZoneName> names = {config_.name()};
    for (const Peer& peer : peers_.peers()) {
        names.push_back(peer.zone);
        if (peer.outbound == PeeringState::kAccepted)
            ask.push_back(zbs::address_of(peer));
        else if (wanted(peer.zone))
            collection->offers.push_back({peer.zone,
                                          {},
                                          std::string("has not accepted this organisation (") +
                                              (peer.outbound ? to_string(*peer.outbound) : "not asked yet") + ")" +
                                              (peer.reason.empty() ? "" : ": " + peer.reason),
                                          peer.outbound == PeeringState::kSuspended});
    }
    for (const ZoneName& zone : request.zones) {
        if (std::find(names.begin(), names.end(), zone) == names.end())
            collection->offers.push_back({zone, {}, "no such zone is known here", false});
    }
    CapacityRequest question{.user = owner, .processors = request.ranks, .walltime = request.walltime};
    question.groups = groups_of_(owner);
    question.without = without;
    question.share = request.share;
    question.grace = request.grace;
    question.application = request.id;
    question.staging = need_of(request.staging, config_.staging.shared_file_system);
    for (const ServiceAddress& address : ask) question.zones.emplace_back(address.who.name);
    const auto finish = [collection] {
        if (!collection->done || !collection->missing.empty()) return;
        std::sort(collection->offers.begin(), collection->offers.end(),
                  [](const Offer& a, const Offer& b) { return a.zone < b.zone; });
        std::exchange(collection->done, {})(std::move(collection->offers));
    };
    for (const ServiceAddress& address : ask) {
        const ZoneName zone(address.who.name);
        if (!wanted(zone)) {
            collection->offers.push_back(
                {zone,
                 {},
                 only_here ? std::string("launcher ") + to_string(request.launcher) + " works in the home zone only"
                           : "not among the zones asked for",
                 false,
                 true});
        } else if (excluded.contains(zone)) {
            collection->offers.push_back({zone, {}, kRefusedBefore, true});
        } else {
            collection->missing.insert(zone);
            transport_.ask_capacity(
                address, question,
                [this, collection, finish, name = zone, organisation = address.who.organisation,
                 rests = why_it_rests(zone)](Result<Capacity> capacity) {
                    // A zone that accepted this organisation and denies it now: its answer to the next request for
                    // peering shows whether for good. A user without rights there is no error.
                    const bool passes =
                        !capacity && (is_passing(capacity.error()) || capacity.error().code == ErrorCode::kDenied);
                    if (passes) peers_.recheck(name);
                    if (collection->missing.erase(name) == 0) return;  // too late
                    if (!capacity) {
                        collection->offers.push_back(
                            {name, {}, rests.empty() ? capacity.error().message : rests, passes});
                    } else if (capacity->zone != name)
                        collection->offers.push_back({name, {}, "another zone answered at its address", true});
                    else
                        collection->offers.push_back({name, *std::move(capacity), {}, false});
                    Offer& offer = collection->offers.back();
                    offer.is_doubtful = is_doubtful_(organisation);
                    if (const auto left = backoff_.left(name, clock_.steady_now()); left && offer.capacity)
                        offer.left_out = "did not start the last part that it had committed; it is left out for " +
                                         std::to_string(static_cast<int>(to_seconds(*left)) + 1) + " s";
                    if (offer.capacity && !rests.empty()) {
                        give_nothing_now(*offer.capacity);
                        offer.refusal = rests;
                    }
                    finish();
                });
        }
    }
    clock_.after(Duration{0}, finish);  // where nobody is asked
    clock_.after(kAnswersWithin, [this, collection, finish] {
        for (const ZoneName& zone : std::exchange(collection->missing, {})) {
            const std::string rests = why_it_rests(zone);
            collection->offers.push_back({zone, {}, rests.empty() ? "has not answered yet" : rests, true});
        }
        finish();
    });
}

void ApplicationService::dry_run(const Caller& caller, const ApplicationRequest& request,
                                 Respond<ApplicationPlan> respond) {
    if (!caller.is_user_of(config_.organisation))
        return respond(
            Error{ErrorCode::kDenied, "only users of organisation '" + config_.organisation + "' may plan here", {}});
    if (!is_plan_mapper(request.mapper))
        return respond(invalid("must be one of hier, block, round_robin, random", "/mapper"));
    if (auto good = check_zones(request); !good) return respond(good.error());
    ProfileLibrary::Choice choice = profiles_.choose(caller, request);
    collect_offers(
        caller, request, {}, std::nullopt,
        [this, request, choice = std::move(choice), respond = std::move(respond)](std::vector<Offer> offers) {
            leave_out_failed(offers, request.ranks);
            Result<Plan> made = choose_start(request, choice, offers, {.reserve = true, .queue = true});
            if (!made) return respond(made.error());
            respond(std::move(made->plan));
        });
}

/// A plan for now; else for the earliest common start, or to wait in the queue of one zone, whichever can be expected
/// to be earlier. What one zone with a queue can hold goes through its queue where that is allowed.
/// Errors: `make_plan`'s.
Result<ApplicationService::Plan> ApplicationService::choose_start(const ApplicationRequest& request,
                                                                  const ProfileLibrary::Choice& model,
                                                                  const std::vector<Offer>& offers,
                                                                  const MayWait& may_wait) const {
    const CycleTimer timer(observer_, clock_, Cycle::kPlan);
    const std::vector<Offer> trusted = offers_without_doubt(offers);
    Result<ApplicationPlan> now = make_plan(request, model.model, model.source, trusted.empty() ? offers : trusted);
    if (!now && !trusted.empty()) now = make_plan(request, model.model, model.source, offers);
    const auto set_learned = [&](ApplicationPlan& plan) {
        plan.learned = model.learned;
        plan.digest = model.digest;
        plan.predicted = model.predicted;
    };
    if (now) {
        set_learned(*now);
        set_starts(*now, request.ranks, offers);
        now->queued = may_wait.queue && is_for_one_queue(*now, offers);
        return Plan{*std::move(now), std::nullopt};
    }
    if (now.error().code != ErrorCode::kUnavailable) return now.error();
    std::optional<Duration> start;
    if (may_wait.reserve)
        start = earliest_common_start(request.ranks, offers, {may_wait.not_before, config_.reserve_ahead});
    if (start)
        start = std::max(*start, kSoon);  // a zone that answers with a moment is believed, not asked again and again
    const std::optional<QueueOffer> queue = may_wait.queue ? best_queue(request.ranks, offers) : std::nullopt;
    if (queue && (!start || (queue->start && *queue->start <= *start + kSoon))) {
        Result<ApplicationPlan> waiting =
            make_plan(request, model.model, model.source, offers_of_queue(offers, queue->zone));
        if (waiting) {
            set_learned(*waiting);
            waiting->queued = true;
            for (ZoneVerdict& verdict : waiting->zones) {
                const auto offer = std::find_if(offers.begin(), offers.end(),
                                                [&](const Offer& o) { return o.zone == verdict.zone && o.capacity; });
                if (offer == offers.end()) continue;
                verdict.processors = offer->capacity->processors;
                if (verdict.ranks == 0 && offer->capacity->total_processors > 0)
                    verdict.reason =
                        "not used: zone " + queue->zone + " can be expected to start all ranks first, in its turn";
            }
            waiting->start_in = queue->start.value_or(Duration{0});
            set_starts(*waiting, request.ranks, offers);
            return Plan{*std::move(waiting), std::nullopt};
        }
    }
    if (!start) return now.error();
    const std::vector<Offer> then = offers_at(offers, *start);
    Result<ApplicationPlan> later = make_plan(request, model.model, model.source, then);
    if (!later) return now.error();
    set_learned(*later);
    later->start_in = *start;
    set_starts(*later, request.ranks, offers);
    return Plan{*std::move(later), *start};
}

bool ApplicationService::may_reserve(const std::shared_ptr<Run>& run) const {
    return std::cmp_less(reserved_.size(), config_.max_reservations) || reserved_.contains(run->app.request.id);
}

/// What is learnt of its program. Kept for a minute: making it anew can take as long as merging several runs does, and
/// who waits looks every second.
const ProfileLibrary::Choice& ApplicationService::choice_for(const std::shared_ptr<Run>& run) {
    const Duration now = clock_.steady_now();
    if (!run->choice || now - run->chosen > kChoiceKept) {
        run->choice = profiles_.choose(run->app.owner, run->app.request);
        run->chosen = now;
    }
    return *run->choice;
}

/// Stores the plan and its parts. A part takes the place of the one that the application has reserved in the same zone,
/// if any. False where it could not be stored.
bool ApplicationService::take_plan(const std::shared_ptr<Run>& run, Plan made) {
    ApplicationStatus changed = run->app.status;
    made.plan.round = run->round;
    std::map<ZoneName, PartId> reserved;
    for (ApplicationPart& part : changed.parts) {
        reserved.emplace(part.zone, part.id);
        changed.releasing.push_back(std::move(part));
    }
    changed.parts.clear();
    run->obligations.clear();
    std::map<ZoneName, ApplicationPart> parts;
    for (std::size_t rank = 0; rank < made.plan.zone_of_rank.size(); ++rank)
        parts[made.plan.zone_of_rank[rank]].ranks.push_back(static_cast<TaskIndex>(rank));
    for (auto& [zone, part] : parts) {
        part.zone = zone;
        part.id = PartId{ids_.fresh(own_address().who)};
        part.status.id = part.id;
        part.queued = made.plan.queued;
        if (const auto old = reserved.find(zone); old != reserved.end()) part.replaces = old->second;
        changed.parts.push_back(std::move(part));
    }
    changed.plan = std::move(made.plan);
    changed.start.reset();
    if (made.start_in) {
        run->start = clock_.steady_now() + *made.start_in;
        changed.start = clock_.now() + *made.start_in;
    }
    return enter(run, std::move(changed), ApplicationState::kPlanned);
}

ServiceAddress ApplicationService::own_address() const {
    return {config_.url, {CallerKind::kZone, config_.organisation, config_.zone.name}};
}

ServiceAddress ApplicationService::address_of(const ZoneName& zone) const {
    if (zone == config_.zone.name) return own_address();
    for (const Peer& peer : peers_.peers()) {
        if (peer.zone == zone) return zbs::address_of(peer);
    }
    return {};
}

/// A peer is attacker-controlled: exactly our ranks, in order, no two on one processor.
bool ApplicationService::is_complete(const ApplicationPart& part, const PartStatus& answer) {
    std::set<std::pair<std::string_view, std::int32_t>> places;
    for (const RankPlace& place : answer.assignment) places.emplace(place.machine, place.processor);
    return places.size() == part.ranks.size() &&
           std::equal(part.ranks.begin(), part.ranks.end(), answer.assignment.begin(), answer.assignment.end(),
                      [](TaskIndex rank, const RankPlace& place) { return rank == place.rank; });
}

void ApplicationService::hold(const std::shared_ptr<Run>& run) {
    ZBS_EXPECTS(!run->app.status.parts.empty());  // entering `planned` stores them in the same write
    run->busy = true;
    run->failed_zone = {};
    run->pending = static_cast<int>(run->app.status.parts.size());
    const auto start = run->app.status.start ? std::optional(run->start) : std::nullopt;
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i) {
        const ApplicationPart& part = run->app.status.parts[i];
        const ServiceAddress zone = address_of(part.zone);
        PartRequest request = make_part(run->app, run->model, part, config_.name());
        request.groups = groups_of_(run->app.owner);
        request.replaces = part.replaces;
        request.staging = need_of(run->app.request.staging, config_.staging.shared_file_system);
        if (run->app.status.start) request.start_in = std::max(kShortest, run->start - clock_.steady_now());
        if (delegations_ != nullptr && zone.who.organisation != config_.organisation)
            request.delegation = delegations_->prove(request, zone.who);
        const Duration asked_at = clock_.steady_now();
        transport_.hold_part(zone, request, [this, run, i, start, asked_at](Result<PartStatus> answer) {
            if (auto reached = failpoint::reach(failpoint::Point::kHomeHoldAnswered); !reached)
                answer = reached.error();
            ApplicationPart& held = run->app.status.parts[i];
            const bool waits = answer && held.queued && answer->queue;
            const bool fits = answer && answer->id == held.id && answer->state == PartState::kHeld &&
                              (waits ? answer->assignment.empty() : is_complete(held, *answer));
            const std::string off =
                fits ? start_fault(*answer, {start, asked_at, clock_.steady_now()}, config_.launch_window / kSlipShare)
                     : "its hold does not fit the request";
            const bool good = fits && off.empty();
            const std::string words = !answer         ? answer.error().message
                                      : good && waits ? "takes it into its queue"
                                      : good          ? "holds " + std::to_string(held.ranks.size()) + " processors"
                                                      : off;
            record_answer(run, held.zone, "hold", good, words);
            if (good) {
                held.status = *answer;
                record_promise(run, held.id, asked_at, *answer);
            } else {
                run->failed_zone = held.zone;
                run->failed_reason = words;
                if (!answer && (is_passing(answer.error()) || is_denial(answer.error()))) peers_.recheck(held.zone);
                if (run->swaps) {
                    Run::Backoff& backoff = run->backoffs[held.zone];
                    backoff.times = std::min(backoff.times + 1, kMaxBackoffs);
                    backoff.until = clock_.steady_now() + kFirstBackoff * (1 << backoff.times);
                }
                run->was_denied |= !answer && is_denial(answer.error());
            }
            if (--run->pending > 0) return;
            run->busy = false;
            end_turn(run);
            run->swaps = false;
            if (!run->failed_zone.empty() && run->place && !run->app.status.cancel_requested) return wait_on(run);
            run->place.reset();
            if (run->app.status.cancel_requested) return advance(run);
            if (!run->failed_zone.empty()) return plan_again(run, run->failed_zone, run->failed_reason);
            ApplicationStatus changed = run->app.status;
            std::erase_if(changed.releasing, [&](const ApplicationPart& old) {  // with the hold of the new part
                return std::ranges::any_of(changed.parts, [&](const auto& fresh) { return fresh.replaces == old.id; });
            });
            if (!enter(run, std::move(changed), ApplicationState::kHeld)) return;
            release(run);  // of zones that are needed no more
            advance(run);
        });
    }
}

void ApplicationService::plan_again(const std::shared_ptr<Run>& run, const ZoneName& zone, const std::string& reason) {
    ApplicationStatus changed = run->app.status;
    changed.releasing.insert(changed.releasing.end(), changed.parts.begin(), changed.parts.end());
    changed.parts.clear();
    changed.start.reset();
    const std::string what = (zone.empty() ? "" : "zone " + zone + ": ") + reason;
    if (std::exchange(run->was_denied, false)) ++run->denials;
    if (run->denials >= kMaxDenials) {
        if (enter(run, std::move(changed), ApplicationState::kRejected,
                  "no plan held in " + std::to_string(run->round) + " rounds; the last one failed because " + what)) {
            release(run);
        }
        return;
    }
    const ZoneName refused = zone;  // which may be of a part that goes with the change
    if (!enter(run, std::move(changed), ApplicationState::kAccepted, "planning again: " + what)) return;
    run->launching = run->launched = run->launch_given_up = false;
    ++run->round;
    if (!refused.empty()) run->excluded.insert(refused);
    release(run);
    // Jitter, so that two homes that took from each other do not meet again.
    later(run, back_off(run->round, jitter_), &ApplicationService::advance);
}

void ApplicationService::commit(const std::shared_ptr<Run>& run) {
    ZBS_EXPECTS(!run->app.status.parts.empty());  // entering `planned` stores them in the same write
    run->busy = true;
    run->failed_zone = {};
    run->pending = static_cast<int>(run->app.status.parts.size());
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i) {
        const ApplicationPart& part = run->app.status.parts[i];
        transport_.commit_part(
            address_of(part.zone), part.id, part.status.token,
            [this, run, i, asked_at = clock_.steady_now()](Result<PartStatus> answer) {
                if (auto reached = failpoint::reach(failpoint::Point::kHomeCommitAnswered); !reached)
                    answer = reached.error();
                ApplicationPart& committed = run->app.status.parts[i];
                bool good = answer && answer->state == PartState::kCommitted;
                if (good && committed.queued && committed.status.assignment.empty())
                    good = take_turn(run->app.status, committed, *answer);
                const std::string words = !answer ? answer.error().message
                                          : good  ? "committed"
                                                  : "it let the hold go: " + answer->reason;
                record_answer(run, committed.zone, "commit", good, words);
                if (!good) {
                    run->failed_zone = committed.zone;
                    run->failed_reason = words;
                    assess(run, committed.zone, committed.id, answer);
                } else {
                    record_promise(run, committed.id, asked_at, *answer);
                    committed.status.state = answer->state;
                    committed.status.expires_in = Duration{0};
                }
                if (--run->pending > 0) return;
                run->busy = false;
                if (run->app.status.cancel_requested) return advance(run);
                if (!run->failed_zone.empty()) return plan_again(run, run->failed_zone, run->failed_reason);
                if (run->app.status.start ||
                    waits_in_queue(run->app.status)) {  // reserved: what comes now is a new series of plans
                    run->round = 1;
                    run->excluded.clear();
                }
                run->turn_asked = false;
                const std::string waits = waits_in_queue(run->app.status) ? kWaitsInQueue
                                          : run->app.status.start         ? why_it_awaits_start(run->app.status)
                                                                          : "";
                if (enter(run, ApplicationState::kCommitted, waits)) advance(run);
            });
    }
}

/// Gives back what this application does not need any more, for as long as it takes: a zone that is away keeps its part
/// until it hears of it or until the part ends by itself.
void ApplicationService::release(const std::shared_ptr<Run>& run) {
    if (run->releasing || run->app.status.releasing.empty()) return;
    if (!failpoint::reach(failpoint::Point::kHomeBeforeRelease)) return release_later(run);
    run->releasing = true;
    auto pending = std::make_shared<std::size_t>(run->app.status.releasing.size());
    auto gone = std::make_shared<std::set<PartId>>();
    for (const ApplicationPart& part : run->app.status.releasing) {
        transport_.release_part(
            address_of(part.zone), part.id, run->app.status.reason.substr(0, kMaxReason),
            [this, run, pending, gone, id = part.id](const Result<PartStatus>& answer) {
                const bool unknown = !answer && answer.error().code == ErrorCode::kNotFound;
                for (const ApplicationPart& given : run->app.status.releasing) {
                    if (given.id == id)
                        record_answer(run, given.zone, "release", answer.has_value() || unknown,
                                      answer    ? to_string(answer->state)
                                      : unknown ? "has no such part"
                                                : answer.error().message);
                }
                if (unknown || (answer && is_final(answer->state))) gone->insert(id);
                for (ApplicationPart& shown : run->app.status.parts) {
                    if (shown.id == id && answer)
                        shown.status.state = answer->state;  // stored with the next change below
                }
                if (--*pending > 0) return;
                run->releasing = false;
                ApplicationStatus changed = run->app.status;
                std::erase_if(changed.releasing, [&](const ApplicationPart& p) { return gone->contains(p.id); });
                if (!gone->empty()) begin_cycle(Duration{0});
                run->release_retry = gone->empty() ? std::min(run->release_retry * 2, kReleaseRetryMax) : kReleaseRetry;
                const bool saved = gone->empty() || save(run, std::move(changed));
                if (!saved || !run->app.status.releasing.empty()) release_later(run);
            });
    }
}

void ApplicationService::release_later(const std::shared_ptr<Run>& run) {
    if (std::exchange(run->release_waits, true)) return;
    clock_.after(run->release_retry, [this, run] {
        run->release_waits = false;
        // What is to be replaced is among them, and stays until the new parts are held.
        if (run->swaps && !is_final(run->app.status.state)) return release_later(run);
        release(run);
    });
}

}  // namespace zbs
