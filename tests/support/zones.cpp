#include "tests/support/zones.hpp"

#include "algorithms/base/rng.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_simulation.hpp"

namespace zbs::test {

ZoneBuilder& ZoneBuilder::running(std::int64_t id, std::int32_t processors, Duration remaining) {
    ZBS_EXPECTS(
        state_
            .apply(kNow,
                   JobSubmitted{{.id = JobId{id}, .submit = kNow, .walltime = remaining, .processors = processors}})
            .has_value());
    ZBS_EXPECTS(state_.apply(kNow, JobStarted{JobId{id}}).has_value());
    return *this;
}

ZoneBuilder& ZoneBuilder::queued(std::int64_t id, std::int32_t processors, Duration walltime, const Waiting& waiting) {
    const Job job{.id = JobId{id},
                  .submit = kNow - waiting.waited,
                  .walltime = walltime,
                  .processors = processors,
                  .priority = waiting.priority};
    ZBS_EXPECTS(state_.apply(kNow, JobSubmitted{job}).has_value());
    return *this;
}

Workload workload(int processors, std::initializer_list<PlainJob> jobs) {
    using std::chrono::seconds;
    Workload made{.name = "hand-made", .processors = processors, .jobs = {}};
    for (const PlainJob& job : jobs) {
        const std::int64_t id = static_cast<std::int64_t>(made.jobs.size()) + 1;
        made.jobs.push_back({.job = {.id = JobId{id},
                                     .submit = Time{seconds{job.submit}},
                                     .walltime = seconds{job.walltime},
                                     .processors = job.processors,
                                     .priority = job.priority},
                             .runtime = seconds{job.runtime > 0 ? job.runtime : job.walltime}});
    }
    return made;
}

std::vector<int> starts_under(const std::string& policy,
                              const std::vector<std::pair<std::string, std::string>>& options,
                              const Workload& workload) {
    const Result<std::unique_ptr<Policy>> made = make_policy(policy, options);
    ZBS_EXPECTS(made.has_value());
    const Result<SimulationOutcome> outcome = simulate(workload, **made, {});
    ZBS_EXPECTS(outcome.has_value());
    std::vector<int> starts;
    for (const Time start : outcome->start)
        starts.push_back(static_cast<int>(std::chrono::floor<std::chrono::seconds>(start.time_since_epoch()).count()));
    return starts;
}

Workload random_workload(const RandomWorkload& options) {
    using std::chrono::seconds;
    Rng rng(options.seed);
    const auto up_to = [&rng](int most) { return static_cast<int>(rng.below(static_cast<std::uint64_t>(most) + 1)); };
    Workload made{.name = "random", .processors = options.processors, .jobs = {}};
    int submit = 0;
    for (std::size_t i = 0; i < options.jobs; ++i) {
        if (up_to(2) > 0) submit += up_to(options.gap);
        const int runtime = 1 + up_to(options.longest - 1);
        const int factor = up_to(2) == 0 ? 1 : 1 + up_to(options.overestimate - 1);
        // Half of the jobs are narrow: otherwise there is little to backfill.
        const std::int32_t widest = up_to(1) == 0 ? std::max(1, options.widest / 4) : options.widest;
        made.jobs.push_back({.job = {.id = JobId{static_cast<std::int64_t>(i) + 1},
                                     .submit = Time{seconds{submit}},
                                     .walltime = seconds{runtime * factor},
                                     .processors = 1 + up_to(widest - 1),
                                     .priority = up_to(3),
                                     .user = up_to(options.users - 1)},
                             .runtime = seconds{runtime}});
    }
    return made;
}

}  // namespace zbs::test
