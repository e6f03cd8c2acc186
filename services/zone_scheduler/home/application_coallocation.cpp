// ApplicationService from `accepted` to `committed`: offers, plan, hold, commit, and giving back.
#include <algorithm>
#include <utility>

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

void record_answer(ApplicationRun& run, Time at, const ZoneName& zone, const char* what, bool ok,
                   const std::string& answer) {
    add_event(run.app.status.events,
              {.at = at, .last = {}, .round = run.round, .zone = zone, .what = what, .answer = answer, .ok = ok});
}

void ApplicationService::record_offers(const std::shared_ptr<Run>& run, const std::vector<Offer>& offers) {
    for (const Offer& offer : offers) {
        if (!offer.refusal.empty()) {
            record_answer(*run, ports_.clock.now(), offer.zone, "capacity", false, offer.refusal);
            continue;
        }
        const Capacity& c = *offer.capacity;
        record_answer(*run, ports_.clock.now(), offer.zone, "capacity", c.processors > 0,
                      c.total_processors == 0 ? "gives this user nothing"
                                              : std::to_string(c.processors) + " of " +
                                                    std::to_string(c.total_processors) + " processors are free");
    }
}

void ApplicationService::dry_run(const Caller& caller, const ApplicationRequest& request,
                                 Respond<ApplicationPlan> respond) {
    if (!caller.is_user_of(ports_.config.organisation))
        return respond(Error{
            ErrorCode::kDenied, "only users of organisation '" + ports_.config.organisation + "' may plan here", {}});
    if (!is_plan_mapper(request.mapper))
        return respond(invalid("must be one of hier, block, round_robin, random", "/mapper"));
    if (auto good = zones_.check_zones(request); !good) return respond(good.error());
    ProfileLibrary::Choice choice = profiles_.choose(caller, request);
    zones_.collect({caller, request}, [this, request, choice = std::move(choice),
                                       respond = std::move(respond)](std::vector<Offer> offers) {
        leave_out_failed(offers, request.ranks);
        Result<StartChoice> made = choose_start(
            request, choice, offers, {.reserve = StartRange{{}, ports_.config.reserve_ahead}, .queue = true});
        if (!made) return respond(made.error());
        respond(std::move(made->plan));
    });
}

Result<StartChoice> ApplicationService::choose_start(const ApplicationRequest& request,
                                                     const ProfileLibrary::Choice& model,
                                                     const std::vector<Offer>& offers, const MayWait& may_wait) const {
    const CycleTimer timer(ports_.observer, ports_.clock, Cycle::kPlan);
    return zbs::choose_start(request, model, offers, may_wait);
}

bool ApplicationService::may_reserve(const std::shared_ptr<Run>& run) const {
    return std::cmp_less(reserved_.size(), ports_.config.max_reservations) || reserved_.contains(run->app.request.id);
}

/// What is learnt of its program. Kept for a minute: making it anew can take as long as merging several runs does, and
/// who waits looks every second.
const ProfileLibrary::Choice& ApplicationService::choice_for(const std::shared_ptr<Run>& run) {
    const Duration now = ports_.clock.steady_now();
    if (!run->choice || now - run->chosen > kChoiceKept) {
        run->choice = profiles_.choose(run->app.owner, run->app.request);
        run->chosen = now;
    }
    return *run->choice;
}

/// Stores the plan and its parts. A part takes the place of the one that the application has reserved in the same zone,
/// if any. False where it could not be stored.
bool ApplicationService::take_plan(const std::shared_ptr<Run>& run, StartChoice made) {
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
        part.id = PartId{ports_.ids.fresh(zones_.own_address().who)};
        part.status.id = part.id;
        part.queued = made.plan.queued;
        if (const auto old = reserved.find(zone); old != reserved.end()) part.replaces = old->second;
        changed.parts.push_back(std::move(part));
    }
    changed.plan = std::move(made.plan);
    changed.start.reset();
    if (made.start_in) {
        run->start = ports_.clock.steady_now() + *made.start_in;
        changed.start = ports_.clock.now() + *made.start_in;
    }
    return enter(run, std::move(changed), ApplicationState::kPlanned);
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
        const ServiceAddress zone = zones_.address_of(part.zone);
        PartRequest request = make_part(run->app, run->model, part, ports_.config.name());
        request.groups = ports_.groups_of(run->app.owner);
        request.replaces = part.replaces;
        request.staging = need_of(run->app.request.staging, ports_.config.staging.shared_file_system);
        if (run->app.status.start) request.start_in = std::max(kShortest, run->start - ports_.clock.steady_now());
        if (ports_.delegations != nullptr && zone.who.organisation != ports_.config.organisation)
            request.delegation = ports_.delegations->prove(request, zone.who);
        const Duration asked_at = ports_.clock.steady_now();
        ports_.transport.hold_part(zone, request, [this, run, i, start, asked_at](Result<PartStatus> answer) {
            if (auto reached = failpoint::reach(failpoint::Point::kHomeHoldAnswered); !reached)
                answer = reached.error();
            ApplicationPart& held = run->app.status.parts[i];
            const bool waits = answer && held.queued && answer->queue;
            const bool fits = answer && answer->id == held.id && answer->state == PartState::kHeld &&
                              (waits ? answer->assignment.empty() : is_complete(held, *answer));
            const std::string off = fits ? start_fault(*answer, {start, asked_at, ports_.clock.steady_now()},
                                                       ports_.config.launch_window / kSlipShare)
                                         : "its hold does not fit the request";
            const bool good = fits && off.empty();
            const std::string words = !answer         ? answer.error().message
                                      : good && waits ? "takes it into its queue"
                                      : good          ? "holds " + std::to_string(held.ranks.size()) + " processors"
                                                      : off;
            record_answer(*run, ports_.clock.now(), held.zone, "hold", good, words);
            if (good) {
                held.status = *answer;
                record_promise(run, held.id, asked_at, *answer);
            } else {
                run->failed_zone = held.zone;
                run->failed_reason = words;
                if (!answer && (is_passing(answer.error()) || is_denial(answer.error())))
                    ports_.peers.recheck(held.zone);
                if (run->swaps) {
                    Run::Backoff& backoff = run->backoffs[held.zone];
                    backoff.times = std::min(backoff.times + 1, kMaxBackoffs);
                    backoff.until = ports_.clock.steady_now() + kFirstBackoff * (1 << backoff.times);
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
        ports_.transport.commit_part(
            zones_.address_of(part.zone), part.id, part.status.token,
            [this, run, i, asked_at = ports_.clock.steady_now()](Result<PartStatus> answer) {
                if (auto reached = failpoint::reach(failpoint::Point::kHomeCommitAnswered); !reached)
                    answer = reached.error();
                ApplicationPart& committed = run->app.status.parts[i];
                bool good = answer && answer->state == PartState::kCommitted;
                if (good && committed.queued && committed.status.assignment.empty())
                    good = take_turn(run->app.status, committed, *answer);
                const std::string words = !answer ? answer.error().message
                                          : good  ? "committed"
                                                  : "it let the hold go: " + answer->reason;
                record_answer(*run, ports_.clock.now(), committed.zone, "commit", good, words);
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
        ports_.transport.release_part(
            zones_.address_of(part.zone), part.id, run->app.status.reason.substr(0, kMaxReason),
            [this, run, pending, gone, id = part.id](const Result<PartStatus>& answer) {
                const bool unknown = !answer && answer.error().code == ErrorCode::kNotFound;
                for (const ApplicationPart& given : run->app.status.releasing) {
                    if (given.id == id)
                        record_answer(*run, ports_.clock.now(), given.zone, "release", answer.has_value() || unknown,
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
    ports_.clock.after(run->release_retry, [this, run] {
        run->release_waits = false;
        // What is to be replaced is among them, and stays until the new parts are held.
        if (run->swaps && !is_final(run->app.status.state)) return release_later(run);
        release(run);
    });
}

}  // namespace zbs
