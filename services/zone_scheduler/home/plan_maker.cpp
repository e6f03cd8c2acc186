#include "services/zone_scheduler/home/plan_maker.hpp"

#include <atomic>
#include <utility>

namespace zbs {
namespace {

/// What `plan_start` reads of a request. The rest can be large: model, environment.
ApplicationRequest request_to_plan(const ApplicationRequest& request) {
    ApplicationRequest copy{.id = request.id, .ranks = request.ranks};
    copy.mapper = request.mapper;
    copy.seed = request.seed;
    copy.launcher = request.launcher;
    return copy;
}

}  // namespace

/// Read by both threads, except for what `answer` changes and `made`, which the worker leaves for the strand.
struct PlanMaker::InMaking {
    const ApplicationRequest request;
    const ProfileLibrary::Choice model;
    const StartOutline start;
    Respond respond;  ///< empty once it was called
    std::optional<Result<StartChoice>> made{};
    std::atomic<bool> is_unwanted = false;

    InMaking(const ApplicationRequest& asked, ProfileLibrary::Choice known, StartOutline outline, Respond answered)
        : request(request_to_plan(asked)),
          model(std::move(known)),
          start(std::move(outline)),
          respond(std::move(answered)) {}
    void answer(Result<StartChoice> with) {
        is_unwanted = true;
        if (respond) std::exchange(respond, {})(std::move(with));
    }
};

Result<StartChoice> PlanMaker::make_now(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                                        const StartOutline& start) const {
    const CycleTimer timer(ports_.observer, ports_.clock, Cycle::kPlan);
    return plan_start(request, model, start);
}

void PlanMaker::make(const ApplicationRequest& request, const ProfileLibrary::Choice& model, StartOutline start,
                     Respond respond) {
    if (is_quick_to_plan(request, model.model.get())) return respond(make_now(request, model, start));
    static_cast<void>(begin(request, model, std::move(start), std::move(respond)));
}

std::shared_ptr<PlanMaker::InMaking> PlanMaker::begin(const ApplicationRequest& request,
                                                      const ProfileLibrary::Choice& model, StartOutline start,
                                                      Respond respond) {
    auto plan = std::make_shared<InMaking>(request, model, std::move(start), std::move(respond));
    const Duration begun = ports_.clock.steady_now();
    const Clock::TimerId deadline = ports_.clock.after(kWithin, [this, plan] {
        ports_.log.warn("planned_in_blocks",
                        {{"application", to_string(plan->request.id)}, {"ranks", std::to_string(plan->request.ranks)}});
        ApplicationRequest blocks = plan->request;
        blocks.mapper = kBlocks;
        plan->answer(make_now(blocks, plan->model, plan->start));
    });
    ports_.background.run(
        [plan] {
            if (!plan->is_unwanted) plan->made = plan_start(plan->request, plan->model, plan->start);
        },
        [this, plan, begun, deadline] {
            ports_.clock.cancel(deadline);
            if (!plan->made) return;
            ports_.observer.cycle_took(Cycle::kPlan, ports_.clock.steady_now() - begun);
            plan->answer(*std::move(plan->made));
        });
    return plan;
}

void PlanMaker::drop(const std::shared_ptr<InMaking>& plan) {
    ports_.clock.after(Duration{0}, [plan] {
        plan->answer(Error{ErrorCode::kConflict, "nobody wants this plan any more", {}});
    });
}

}  // namespace zbs
