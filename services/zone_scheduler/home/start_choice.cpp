#include "services/zone_scheduler/home/start_choice.hpp"

#include <algorithm>
#include <utility>

namespace zbs {
namespace {

constexpr Duration kSoon = std::chrono::seconds{1};

void set_learned(ApplicationPlan& plan, const ProfileLibrary::Choice& model) {
    plan.learned = model.learned;
    plan.digest = model.digest;
    plan.predicted = model.predicted;
}

Result<ApplicationPlan> plan_in_queue(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                                      const std::vector<Offer>& offers, const QueueOffer& queue) {
    Result<ApplicationPlan> waiting =
        make_plan(request, model.model, model.source, offers_of_queue(offers, queue.zone));
    if (!waiting) return waiting;
    set_learned(*waiting, model);
    waiting->queued = true;
    for (ZoneVerdict& verdict : waiting->zones) {
        const auto offer = std::find_if(offers.begin(), offers.end(),
                                        [&](const Offer& o) { return o.zone == verdict.zone && o.capacity; });
        if (offer == offers.end()) continue;
        verdict.processors = offer->capacity->processors;
        if (verdict.ranks == 0 && offer->capacity->total_processors > 0)
            verdict.reason = "not used: zone " + queue.zone + " can be expected to start all ranks first, in its turn";
    }
    waiting->start_in = queue.start.value_or(Duration{0});
    set_starts(*waiting, request.ranks, offers);
    return waiting;
}

}  // namespace

Result<StartChoice> choose_start(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                                 const std::vector<Offer>& offers, const MayWait& may_wait) {
    const std::vector<Offer> trusted = offers_without_doubt(offers);
    Result<ApplicationPlan> now = make_plan(request, model.model, model.source, trusted.empty() ? offers : trusted);
    if (!now && !trusted.empty()) now = make_plan(request, model.model, model.source, offers);
    if (now) {
        set_learned(*now, model);
        set_starts(*now, request.ranks, offers);
        now->queued = may_wait.queue && is_for_one_queue(*now, offers);
        return StartChoice{*std::move(now), std::nullopt};
    }
    if (now.error().code != ErrorCode::kUnavailable) return now.error();
    std::optional<Duration> start;
    if (may_wait.reserve) start = earliest_common_start(request.ranks, offers, *may_wait.reserve);
    if (start)
        start = std::max(*start, kSoon);  // a zone that answers with a moment is believed, not asked again and again
    const std::optional<QueueOffer> queue = may_wait.queue ? best_queue(request.ranks, offers) : std::nullopt;
    if (queue && (!start || (queue->start && *queue->start <= *start + kSoon)))
        if (Result<ApplicationPlan> waiting = plan_in_queue(request, model, offers, *queue))
            return StartChoice{*std::move(waiting), std::nullopt};
    if (!start) return now.error();
    Result<ApplicationPlan> later = make_plan(request, model.model, model.source, offers_at(offers, *start));
    if (!later) return now.error();
    set_learned(*later, model);
    later->start_in = *start;
    set_starts(*later, request.ranks, offers);
    return StartChoice{*std::move(later), *start};
}

}  // namespace zbs
