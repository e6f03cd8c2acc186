#include "services/zone_scheduler/home/zone_calls.hpp"

#include <algorithm>

#include "services/common/failpoint/failpoint.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/trust/delegation_service.hpp"

namespace zbs {
namespace {

constexpr Duration kShortest{1};

std::optional<failpoint::Point> failpoint_of(Question question) {
    switch (question) {
        case Question::kHold:
            return failpoint::Point::kHomeHoldAnswered;
        case Question::kCommit:
            return failpoint::Point::kHomeCommitAnswered;
        case Question::kLaunch:
            return failpoint::Point::kHomeLaunchAnswered;
        default:
            return std::nullopt;
    }
}

LaunchRequest launch_request(const Application& app, const ApplicationPart& part,
                             const std::vector<std::pair<std::string, std::string>>& options) {
    const ApplicationRequest& asked = app.request;
    // The library's ranks meet at MPI_Init and at MPI_Finalize: all of them have it, or none.
    // Under Open MPI's launcher it records nothing: it ends ranks of MPICH, each of which would run alone.
    const bool can_profile = can_be_profiled(asked.launcher);
    const bool preload =
        (can_profile || asked.launcher == Launcher::kOpenMpi) &&
        std::ranges::all_of(app.status.parts, [](const ApplicationPart& one) { return one.status.can_profile; });
    LaunchRequest request{.token = part.status.token,
                          .operation = launch_operation(part.id),
                          .options = options,
                          .profile = preload && can_profile && asked.profile,
                          .preload = preload};
    request.launcher = asked.launcher;
    if (is_srun(asked.launcher)) request.program = program_of_ranks(asked);
    for (const LaunchProxy& proxy : launch_proxies(app))
        if (proxy.zone == part.zone) request.proxies.push_back({proxy.id, proxy.machine});
    return request;
}

}  // namespace

PartRequest ZoneCalls::hold_request(const ApplicationRun& run, const ApplicationPart& part,
                                    const ServiceAddress& zone) const {
    PartRequest request =
        make_part(run.app, std::get<phase::Holding>(run.phase).plan.model.get(), part, ports_.config.name());
    request.groups = ports_.groups_of(run.app.owner);
    request.replaces = part.replaces;
    request.staging = need_of(run.app.request.staging, ports_.config.staging.shared_file_system);
    if (run.app.status.start) request.start_in = std::max(kShortest, run.start - ports_.clock.steady_now());
    if (ports_.delegations != nullptr && zone.who.organisation != ports_.config.organisation)
        request.delegation = ports_.delegations->prove(request, zone.who);
    return request;
}

void ZoneCalls::perform(const Run& run, const effect::AskZones& all) {
    for (const ApplicationPart& part : std::vector<ApplicationPart>(run->app.status.parts))
        ask(run, all.question, part.id);
}

void ZoneCalls::perform(const Run& run, const effect::AskZone& one) {
    if (one.after == Duration{0}) return ask(run, one.question, one.part);
    ports_.clock.after(one.after, [this, run, one] { ask(run, one.question, one.part); });
}

void ZoneCalls::ask(const Run& run, Question question, const PartId& id) {
    const ApplicationPart* part = find_part(run->app.status, id);
    if (part == nullptr) return;
    const ServiceAddress zone = zones_.address_of(part->zone);
    const auto answered = [this, run, question, id, asked = ports_.clock.steady_now()](Result<PartStatus> answer) {
        event::PartAnswered came{question, id, asked, std::move(answer)};
        if (const auto point = failpoint_of(question))
            if (auto reached = failpoint::reach(*point); !reached) came.answer = reached.error();
        apply_(run, came);
    };
    const auto* launching = std::get_if<phase::LaunchingParts>(&run->phase);
    if (question == Question::kHold)  // with its share of the model: others are served between two of them
        ports_.clock.after(Duration{0}, [this, run, part = *part, zone, answered] {
            if (std::holds_alternative<phase::Holding>(run->phase))
                ports_.transport.hold_part(zone, hold_request(*run, part, zone), answered);
        });
    else if (question == Question::kCommit)
        ports_.transport.commit_part(zone, id, part->status.token, answered);
    else if (question != Question::kLaunch)
        ports_.transport.part_status(zone, id, answered);
    else if (launching != nullptr && launching->missing.contains(id))
        ports_.transport.launch_part(zone, id, launch_request(run->app, *part, launching->options), answered);
}

void ZoneCalls::perform(const Run& run, const effect::AskProfile& ask) {
    if (const ApplicationPart* part = find_part(run->app.status, ask.part))
        ports_.transport.part_profile(zones_.address_of(part->zone), part->id,
                                      [this, run, id = part->id](Result<ApplicationModel> model) {
                                          apply_(run, event::ProfileAnswered{id, std::move(model)});
                                      });
}

void ZoneCalls::perform(const Run& run, const effect::StopParts&) {
    for (const ApplicationPart& part : std::vector<ApplicationPart>(run->app.status.parts))
        stop(run, part.zone, part.id);
}

void ZoneCalls::perform(const Run& run, const effect::ReleasePart& release) {
    const PartId& id = release.part;
    const auto part = std::ranges::find(run->app.status.releasing, id, &ApplicationPart::id);
    if (part == run->app.status.releasing.end()) return;
    if (auto reached = failpoint::reach(failpoint::Point::kHomeBeforeRelease); !reached)
        return apply_(run, event::ReleaseAnswered{id, reached.error()});
    ports_.transport.release_part(zones_.address_of(part->zone), id, run->app.status.reason.substr(0, kMaxReason),
                                  [this, run, id](const Result<PartStatus>& answer) {
                                      apply_(run, event::ReleaseAnswered{id, answer});
                                  });
}

void ZoneCalls::stop(const Run& run, const ZoneName& zone, const PartId& id) {
    ports_.transport.release_part(zones_.address_of(zone), id, run->app.status.stop_reason.substr(0, kMaxReason),
                                  [this, run, zone, id](const Result<PartStatus>& answer) {
                                      if (answer || !is_passing(answer.error())) return;
                                      ports_.clock.after(ports_.config.poll_every, [this, run, zone, id] {
                                          const bool is_over = !run->launcher_until || is_final(run->app.status.state);
                                          if (!is_over && ports_.clock.steady_now() < *run->launcher_until)
                                              stop(run, zone, id);
                                      });
                                  });
}

void ZoneCalls::perform(const Run& run, const effect::Penalise& broken) {
    if (!broken.may_have_reason) return record_broken(*run, broken);
    ports_.transport.part_status(
        zones_.address_of(broken.zone), broken.part, [this, run, broken](const Result<PartStatus>& now) {
            const bool has_reason = now ? is_final(now->state) && now->state != PartState::kExpired : !denies(now);
            if (!has_reason) record_broken(*run, broken);
        });
}

void ZoneCalls::record_broken(const ApplicationRun& run, const effect::Penalise& broken) {
    const ServiceAddress address = zones_.address_of(broken.zone);
    ports_.log.warn("word_broken", {{"application", to_string(run.app.request.id)},
                                    {"part", to_string(broken.part)},
                                    {"zone", to_uri(address.who)},
                                    {"reason", broken.words}});
    ports_.record_reputation(address.who.organisation, TrustEvent::kBrokenWord);
}

}  // namespace zbs
