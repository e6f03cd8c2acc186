#include "services/zone_scheduler/home/start_choice.hpp"

#include <algorithm>
#include <utility>

namespace zbs {
namespace {

constexpr Duration kSoon = std::chrono::seconds{1};

/// In words of the offers as they are now.
void describe_queue(ApplicationPlan& plan, const StartOutline& outline) {
    plan.queued = true;
    for (ZoneVerdict& verdict : plan.zones) {
        const auto offer = std::find_if(outline.offers.begin(), outline.offers.end(),
                                        [&](const Offer& o) { return o.zone == verdict.zone && o.capacity; });
        if (offer == outline.offers.end()) continue;
        verdict.processors = offer->capacity->processors / offer->overcommit;
        if (verdict.ranks == 0 && offer->capacity->total_processors > 0)
            verdict.reason =
                "not used: zone " + outline.queue->zone + " can be expected to start all ranks first, in its turn";
    }
    plan.start_in = outline.queue->start.value_or(Duration{0});
}

}  // namespace

Result<StartOutline> choose_start(const ApplicationRequest& request, const std::vector<Offer>& offers,
                                  const MayWait& may_wait) {
    StartOutline outline{.used = offers_without_doubt(offers), .may_queue = may_wait.queue};
    Result<void> room = check_room(request, outline.used.empty() ? offers : outline.used);
    if (!room && !outline.used.empty()) {
        outline.used.clear();
        room = check_room(request, offers);
    }
    if (room) {
        outline.offers = offers;
        if (outline.used.empty()) outline.used = offers;
        return outline;
    }
    if (room.error().code != ErrorCode::kUnavailable) return room.error();
    std::optional<Duration> start;
    if (may_wait.reserve) start = earliest_common_start(request.ranks, offers, *may_wait.reserve);
    if (start)
        start = std::max(*start, kSoon);  // a zone that answers with a moment is believed, not asked again and again
    if (may_wait.queue) outline.queue = best_queue(request.ranks, offers);
    const std::optional<QueueOffer>& queue = outline.queue;
    if (queue && (!start || (queue->start && *queue->start <= *start + kSoon))) {
        outline.offers = offers;
        outline.used = offers_of_queue(offers, queue->zone);
        return outline;
    }
    if (!start) return room.error();
    outline.queue.reset();
    outline.start_in = start;
    outline.offers = offers;
    outline.used = offers_at(offers, *start);
    return outline;
}

Result<StartChoice> plan_start(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                               const StartOutline& outline) {
    Result<ApplicationPlan> plan = make_plan(request, model.model.get(), model.source, outline.used, model.last_zones);
    if (!plan) return plan.error();
    plan->learned = model.learned;
    plan->digest = model.digest;
    plan->predicted = model.predicted;
    if (outline.queue)
        describe_queue(*plan, outline);
    else if (outline.start_in)
        plan->start_in = *outline.start_in;
    else
        plan->queued = outline.may_queue && is_for_one_queue(*plan, outline.offers);
    set_starts(*plan, request.ranks, outline.offers);
    return StartChoice{*std::move(plan), outline.start_in};
}

}  // namespace zbs
