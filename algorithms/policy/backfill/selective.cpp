#include "algorithms/policy/backfill/selective.hpp"

#include "algorithms/policy/backfill/backfill_order.hpp"
#include "algorithms/policy/promises.hpp"

namespace zbs {

void Selective::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    PlanInMaking making(zone, running_.follow(zone), plan);
    making.renew_promises();
    const auto deserves_promise = [&](const WaitingJob& job) {
        // A job that has not waited yet has an expected slowdown of 1.
        return threshold_ <= 1 || expected_slowdown(zone, job) > threshold_;
    };
    zone.waiting.visit([&](const WaitingJob& job) {
        if (zone.record(job.handle).reserved == kNever && deserves_promise(job)) making.promise(job);
        return true;
    });
    zone.waiting.visit([&](const WaitingJob& job) {
        if (zone.record(job.handle).reserved == kNever && !deserves_promise(job)) making.start_if_room(job);
        return making.free_processors() > 0;
    });
}

}  // namespace zbs
