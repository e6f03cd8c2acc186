#include "algorithms/sim/flexibility.hpp"

#include <string>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

Flexibility drawn(std::uint64_t seed, JobId job) {
    // Two steps, so that seeds next to each other do not give the same draws to jobs next to each other.
    const double at = Rng(Rng(seed).next() + static_cast<std::uint64_t>(job.value)).uniform();
    return at < 0.1 ? Flexibility::kRigid : at < 0.7 ? Flexibility::kMoldable : Flexibility::kMalleable;
}

Flexibility flexibility_of(const Job& job, FlexibilityRule rule, std::uint64_t seed) {
    switch (rule) {
        case FlexibilityRule::kRigid:
            return Flexibility::kRigid;
        case FlexibilityRule::kMoldable:
            return Flexibility::kMoldable;
        case FlexibilityRule::kMalleable:
            return Flexibility::kMalleable;
        case FlexibilityRule::kMix:
            return drawn(seed, job.id);
        case FlexibilityRule::kGroup:
            break;
    }
    return static_cast<Flexibility>(job.group);
}

}  // namespace

Result<void> set_flexibility(Workload& workload, FlexibilityRule rule, std::uint64_t seed) {
    if (rule == FlexibilityRule::kGroup)
        for (const auto& [job, runtime] : workload.jobs)
            if (job.group < 0 || job.group > 2)
                return invalid("job " + std::to_string(job.id.value) + " is of group " + std::to_string(job.group) +
                               ", which says no flexibility: 0 is rigid, 1 moldable, 2 malleable");
    for (auto& [job, runtime] : workload.jobs) job.flexibility = flexibility_of(job, rule, seed);
    return {};
}

}  // namespace zbs
