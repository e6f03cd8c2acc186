// ApplicationService in `committed` before a reserved start: waiting, an earlier start, the look before the launch.
#include <algorithm>

#include "services/zone_scheduler/home/application_run.hpp"

namespace zbs {
namespace {

constexpr Duration kCheckStart = std::chrono::seconds{1};
/// What an earlier start must gain at least: less is not worth new holds everywhere.
constexpr Duration kWorthwhile = std::chrono::seconds{2};
constexpr Duration kCheckAgain = std::chrono::milliseconds{500};

}  // namespace

void ApplicationService::await_start(const std::shared_ptr<Run>& run) {
    if (run->awaits_start) return;
    run->awaits_start = true;
    ports_.clock.after(std::min(run->start - ports_.clock.steady_now(), kCheckStart), [this, run] {
        run->awaits_start = false;
        if (run->app.status.state != ApplicationState::kCommitted || !run->app.status.start || run->busy ||
            run->app.status.cancel_requested)
            return advance(run);
        if (ports_.clock.steady_now() >= run->start) return check_ready(run);
        await_start(run);
        begin_cycle(kCheckStart);  // which may start it now
    });
}

/// Whether a start now in place of the reserved one is worth new holds.
bool ApplicationService::may_start_early(const Run& run) const {
    return run.app.status.state == ApplicationState::kCommitted && run.app.status.start && !run.busy &&
           !run.app.status.cancel_requested && run.start - ports_.clock.steady_now() > kWorthwhile;
}

/// Zones that have offered an earlier start not long ago, and refused it.
std::set<ZoneName> ApplicationService::zones_in_backoff(const Run& run) const {
    std::set<ZoneName> zones;
    for (const auto& [zone, backoff] : run.backoffs)
        if (backoff.until > ports_.clock.steady_now()) zones.insert(zone);
    return zones;
}

/// The reason of an application with a reserved start. A zone that takes no new work keeps the start that it promised,
/// but gives no earlier one.
std::string ApplicationService::why_it_awaits_start(const ApplicationStatus& status) const {
    std::string resting;
    for (const ApplicationPart& part : status.parts)
        if (const std::string rests = zones_.why_it_rests(part.zone); !rests.empty())
            resting += "; zone " + part.zone + " " + rests;
    const std::string waits = "waiting for processors: a common start is reserved";
    return waits + (resting.empty() ? ", and taken earlier where something ends early"
                                    : resting + "; an earlier start has to wait for that");
}

/// Starts it now in place of later, where these offers allow it; what it has reserved counts as free in them. Whether
/// its zones are asked to hold it. An earlier start that is not now would cost holds and gain nothing: it comes up
/// again.
ApplicationService::Planned ApplicationService::start_early(const std::shared_ptr<Run>& run,
                                                            const std::vector<Offer>& offers, PassedOver& passed_over) {
    const ProfileLibrary::Choice& choice = choice_for(run);
    const ApplicationStatus& status = run->app.status;
    Result<StartChoice> made = choose_start(run->app.request, choice, offers, {});
    if (!made) {
        if (std::string why = why_it_awaits_start(status); why != status.reason) {
            ApplicationStatus changed = status;
            changed.reason = std::move(why);
            static_cast<void>(save(run, std::move(changed)));
        }
        run->may_overtake = false;
        return Planned::kNot;
    }
    if (has_to_confirm(*run, passed_over)) return Planned::kNot;
    record_offers(run, offers);
    run->model = choice.model;
    run->swaps = true;
    if (!take_plan(run, *std::move(made))) {
        run->swaps = false;
        return Planned::kEnded;
    }
    admit(run);
    return Planned::kNow;
}

/// At the start: every zone must still have the part, and its processors free of what ran there before. Where one has
/// not within a third of the launch window, the start has slipped: everything is given back and planned again.
void ApplicationService::check_ready(const std::shared_ptr<Run>& run) {
    run->busy = true;
    run->failed_zone = {};
    run->pending = static_cast<int>(run->app.status.parts.size());
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i) {
        const ApplicationPart& part = run->app.status.parts[i];
        ports_.transport.part_status(
            zones_.address_of(part.zone), part.id, [this, run, i](const Result<PartStatus>& answer) {
                const ApplicationPart& asked = run->app.status.parts[i];
                const bool committed = answer && answer->state == PartState::kCommitted;
                const bool in_time = committed && answer->starts_in <= kClockDrift;
                const bool ready = in_time && answer->ready;
                const std::string words =
                    !answer      ? answer.error().message
                    : !committed ? std::string("the part is ") + to_string(answer->state) + ": " + answer->reason
                    : ready      ? "ready"
                    : !in_time   ? "by its clock the start is later"
                                 : "what ran on its processors before has not ended";
                record_answer(*run, ports_.clock.now(), asked.zone, "ready", ready, words);
                if (!ready) {
                    assess(run, asked.zone, asked.id, answer);
                    run->failed_zone = asked.zone;
                    run->failed_reason = "the reserved start slips: " + words;
                }
                if (--run->pending > 0) return;
                run->busy = false;
                if (run->app.status.cancel_requested || run->app.status.state != ApplicationState::kCommitted)
                    return advance(run);
                if (run->failed_zone.empty()) return start_coordinator(run);
                if (ports_.clock.steady_now() < run->start + ports_.config.launch_window / kSlipShare)
                    return later(run, kCheckAgain, &ApplicationService::await_start);
                plan_again(run, run->failed_zone, run->failed_reason);
            });
    }
}

}  // namespace zbs
