// ApplicationService in `committed` while its part waits in the queue of its zone: asks when it is its turn, and looks
// whether another zone could start it now.
#include <algorithm>
#include <utility>

#include "services/zone_scheduler/home/application_run.hpp"

namespace zbs {
namespace {

/// How often the zone is asked: of the time that is left, within bounds that leave most of the launch window.
constexpr int kCheckShare = 10;
constexpr int kWindowShare = 6;
constexpr Duration kAskElsewhere = std::chrono::seconds{10};

std::string words_of(const QueueOutlook& outlook) {
    std::string text = "waits in its queue";
    if (outlook.place) text += " at place " + std::to_string(*outlook.place);
    if (outlook.waits_for == "reservation")
        text += "; the processors that are free are reserved from a time on before it could end";
    else if (outlook.waits_for == "right")
        text += "; its user may not have as many processors now";
    else if (outlook.waits_for == "turn")
        text += "; others are before it, or too few processors are free";
    return text;
}

}  // namespace

bool waits_in_queue(const ApplicationStatus& status) {
    return std::any_of(status.parts.begin(), status.parts.end(),
                       [](const ApplicationPart& part) { return part.queued && part.status.assignment.empty(); });
}

/// Takes down what a zone says of a part that was queued: its place, or the processors that it has got. False where
/// these are not for just its ranks.
bool ApplicationService::take_turn(ApplicationStatus& status, ApplicationPart& part, const PartStatus& answer) const {
    part.status.queue = answer.queue;
    status.queue_start.reset();
    if (answer.queue && answer.queue->start_in) status.queue_start = ports_.clock.now() + *answer.queue->start_in;
    if (answer.queue) return true;
    if (!is_complete(part, answer)) return false;
    part.status.assignment = answer.assignment;
    part.status.can_profile = answer.can_profile;
    return true;
}

void ApplicationService::await_turn(const std::shared_ptr<Run>& run) {
    if (run->awaits_start) return;
    run->awaits_start = true;
    const ApplicationPart& part = run->app.status.parts.front();
    Duration look = ports_.config.poll_every;
    if (part.status.queue && run->turn_asked) {
        const Duration longest = ports_.config.launch_window / kWindowShare;
        look =
            std::clamp(part.status.queue->start_in.value_or(longest) / kCheckShare, ports_.config.poll_every, longest);
    }
    ports_.clock.after(look + Duration{static_cast<std::int64_t>(jitter_.below(50'000))}, [this, run] {
        run->awaits_start = false;
        if (run->app.status.state != ApplicationState::kCommitted || run->busy || run->app.status.cancel_requested ||
            !waits_in_queue(run->app.status))
            return advance(run);
        if (!run->turn_asked) run->asked_elsewhere = ports_.clock.steady_now();
        run->turn_asked = true;
        if (ports_.clock.steady_now() - run->asked_elsewhere < kAskElsewhere) return ask_turn(run);
        run->asked_elsewhere =
            ports_.clock.steady_now() + Duration{static_cast<std::int64_t>(jitter_.below(2'000'000))};
        ask_elsewhere(run);
    });
}

void ApplicationService::ask_turn(const std::shared_ptr<Run>& run) {
    run->busy = true;
    const ApplicationPart& part = run->app.status.parts.front();
    ports_.transport.part_status(zones_.address_of(part.zone), part.id, [this, run](const Result<PartStatus>& answer) {
        run->busy = false;
        if (run->app.status.state != ApplicationState::kCommitted || run->app.status.cancel_requested)
            return advance(run);
        ApplicationPart& asked = run->app.status.parts.front();
        if (!answer && is_passing(answer.error())) {
            record_answer(*run, ports_.clock.now(), asked.zone, "queue", false, answer.error().message);
            return await_turn(run);  // silence loses no place in a queue
        }
        if (!answer || answer->state != PartState::kCommitted) {
            const std::string words =
                answer ? std::string("the part is ") + to_string(answer->state) + ": " + answer->reason
                       : answer.error().message;
            record_answer(*run, ports_.clock.now(), asked.zone, "queue", false, words);
            assess(run, asked.zone, asked.id, answer);
            return plan_again(run, asked.zone, words);
        }
        if (!answer->queue && !answer->ready) return await_turn(run);
        if (!take_turn(run->app.status, asked, *answer)) {
            record_answer(*run, ports_.clock.now(), asked.zone, "queue", false,
                          "its processors are not for the ranks asked for");
            return plan_again(run, asked.zone, "its processors are not for the ranks asked for");
        }
        record_answer(*run, ports_.clock.now(), asked.zone, "queue", true,
                      answer->queue ? words_of(*answer->queue) : "gives it processors");
        advance(run);
    });
}

/// Another zone may be able to start it now: then it waits no more.
void ApplicationService::ask_elsewhere(const std::shared_ptr<Run>& run) {
    run->busy = true;
    const ProfileLibrary::Choice choice = choice_for(run);
    std::set<ZoneName> avoided = zones_in_backoff(*run);
    avoided.insert(run->app.status.parts.front().zone);
    zones_.collect({run->app.owner, run->app.request, std::move(avoided), run->app.request.id},
                   [this, run, choice](std::vector<Offer> offers) {
                       run->busy = false;
                       leave_out_failed(offers, run->app.request.ranks);
                       const ApplicationStatus& status = run->app.status;
                       if (status.state != ApplicationState::kCommitted || status.cancel_requested) return advance(run);
                       Result<StartChoice> made = choose_start(run->app.request, choice, offers, {});
                       if (!made || made->start_in) return ask_turn(run);
                       record_offers(run, offers);
                       run->model = choice.model;
                       run->swaps = true;
                       run->place = Run::QueuePlace{run->app.status, run->obligations};
                       if (take_plan(run, *std::move(made))) return advance(run);
                       run->swaps = false;
                       run->obligations = std::move(run->place->obligations);
                       run->place.reset();
                   });
}

/// The zone that could have started it refuses: it has not left its place, and waits on.
void ApplicationService::wait_on(const std::shared_ptr<Run>& run) {
    Run::QueuePlace place = *run->place;
    ApplicationStatus changed = run->app.status;
    const auto is_its_own = [&place](const ApplicationPart& part) {
        return std::ranges::any_of(place.status.parts, [&part](const auto& kept) { return kept.id == part.id; });
    };
    std::erase_if(changed.releasing, is_its_own);
    changed.releasing.insert(changed.releasing.end(), changed.parts.begin(), changed.parts.end());
    changed.parts = std::move(place.status.parts);
    changed.plan = std::move(place.status.plan);
    changed.start = place.status.start;
    run->swaps = true;  // where this cannot be stored now it is held, and refused, once more
    if (!enter(run, std::move(changed), ApplicationState::kCommitted, kWaitsInQueue)) return;
    run->swaps = false;
    run->place.reset();
    run->was_denied = false;
    run->obligations = std::move(place.obligations);
    run->turn_asked = false;  // while it looked the place was not asked for
    release(run);
    advance(run);
}

}  // namespace zbs
