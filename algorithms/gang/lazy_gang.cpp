#include "algorithms/gang/lazy_gang.hpp"

#include <algorithm>
#include <tuple>

#include "algorithms/base/expects.hpp"

namespace zbs::gang {

namespace {

/// How long a job that got its processors keeps them; beyond 1,000 years the same as for ever.
Duration undisturbed_time(const LazyJob& job, const LazyOptions& options) {
    constexpr double kMax = 1000 * 366 * 86400e6;
    const double us = static_cast<double>(options.undisturbed_per_memory.count()) * static_cast<double>(job.memory);
    return Duration{static_cast<std::int64_t>(std::min(us, kMax))};
}

/// Of `victims`, in order, those whose processors make `free` enough for `job`, which it is then; none where all of
/// them are too few.
std::vector<const LazyJob*> choose_victims(const LazyJob& job, std::span<const LazyJob* const> victims,
                                           std::int32_t& free) {
    // In order until it suffices, then spare those that turn out not to be needed, the highest priority first.
    std::vector<const LazyJob*> chosen;
    std::int32_t gain = free;
    for (const LazyJob* victim : victims) {
        if (gain >= job.processors) break;
        chosen.push_back(victim);
        gain += victim->processors;
    }
    if (gain < job.processors) return {};
    for (std::size_t i = chosen.size(); i-- > 0;) {
        if (gain - chosen[i]->processors < job.processors) continue;
        gain -= chosen[i]->processors;
        chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
    }
    free = gain;
    return chosen;
}

}  // namespace

LazyPlan plan_lazy_gang(Time now, std::int32_t processors, std::span<const LazyJob> running,
                        std::span<const LazyJob> waiting, const LazyOptions& options) {
    const auto due = [&](const LazyJob& job) {
        return job.since + options.patience[static_cast<std::size_t>(job.patience)];
    };
    const auto undisturbed_until = [&](const LazyJob& job) { return job.since + undisturbed_time(job, options); };
    std::int32_t free = processors;
    std::vector<const LazyJob*> victims;
    LazyPlan plan;
    for (const LazyJob& job : running) {
        free -= job.processors;
        if (undisturbed_until(job) <= now)
            victims.push_back(&job);
        else
            plan.wake_at = std::min(plan.wake_at, undisturbed_until(job));
    }
    ZBS_EXPECTS(free >= 0);
    std::ranges::sort(victims, {}, [](const LazyJob* j) { return std::tuple(j->priority, j->since, j->id); });

    std::vector<const LazyJob*> queue;
    for (const LazyJob& job : waiting) queue.push_back(&job);
    std::ranges::sort(queue, {}, [&](const LazyJob* j) {
        const bool overdue = due(*j) <= now;
        return std::tuple(!overdue, overdue ? due(*j) : Time{}, overdue ? 0 : -std::int64_t{j->priority}, j->since,
                          j->id);
    });

    for (const LazyJob* job : queue) {
        ZBS_EXPECTS(job->processors <= processors);
        const bool overdue = due(*job) <= now;
        if (job->processors > free && overdue) {
            const std::vector<const LazyJob*> chosen = choose_victims(*job, victims, free);
            if (chosen.empty()) break;
            for (const LazyJob* victim : chosen) {
                plan.preemptions.push_back(victim->id);
                plan.wake_at =
                    std::min(plan.wake_at, now + options.patience[static_cast<std::size_t>(victim->patience)]);
                std::erase(victims, victim);
            }
        }
        if (job->processors > free) {
            plan.wake_at = std::min(plan.wake_at, due(*job));
            continue;
        }
        plan.starts.push_back(job->id);
        free -= job->processors;
        const Duration undisturbed = undisturbed_time(*job, options);
        if (undisturbed > Duration::zero()) plan.wake_at = std::min(plan.wake_at, now + undisturbed);
    }
    return plan;
}

}  // namespace zbs::gang
