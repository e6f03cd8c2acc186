#include "studies/experiments/measured_studies.hpp"

#include <chrono>
#include <vector>

#include "algorithms/allocation/hypercube_allocators.hpp"
#include "algorithms/base/expects.hpp"
#include "algorithms/base/rng.hpp"
#include "studies/claims/samples.hpp"

namespace zbs::claims {
namespace {

/// Microseconds a job, for its allocation and its release, at about full use of the machine.
double microseconds_a_job(std::uint64_t seed, std::int64_t jobs) {
    constexpr int kDimensions = 10;
    AuxiliaryFreeList machine({.dimensions = kDimensions});
    Rng rng(seed);
    std::vector<JobId> running;
    const auto leave = [&](std::size_t index) {
        ZBS_EXPECTS(machine.release(running[index]).has_value());
        running[index] = running.back();
        running.pop_back();
    };
    std::int64_t placed = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t job = 0; placed < jobs; ++job) {
        const auto side = [&rng] { return static_cast<std::int32_t>(1 + rng.below(16)); };
        const Result<const Placement*> place = machine.allocate(JobId{job}, mesh_request({side(), side()}));
        if (place && *place != nullptr) {
            running.push_back(JobId{job});
            ++placed;
        } else {
            leave(rng.below(running.size()));
        }
    }
    while (!running.empty()) leave(running.size() - 1);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    return took.count() / static_cast<double>(jobs);
}

}  // namespace

Claim allocation_time_claim(const Samples& us) {
    return judged({.id = "AFL-20",
                   .source = "Turner1995, chapter 4",
                   .claim = "allocation and release of a job on a 10-cube",
                   .published = "below 800 us",
                   .ours = number(mean(us), 1) + " us",
                   .spread = number(deviation(us), 1) + " us",
                   .see = "tests/golden/Turner1995/allocation_time_test.cpp#AllocationTime.IsMeasured"},
                  mean(us) < 800, "measured: another run, or another machine, gives another figure");
}

Part turner_allocation_time(const Effort& effort) {
    Samples us;
    for (int seed = 1; seed <= effort.seeds; ++seed)
        us.push_back(microseconds_a_job(static_cast<std::uint64_t>(seed), effort.scaled(5000, 500)));
    return {.claims = {allocation_time_claim(us)}, .files = {}};
}

}  // namespace zbs::claims
