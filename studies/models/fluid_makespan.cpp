#include "studies/models/fluid_makespan.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "algorithms/base/expects.hpp"

namespace zbs::gang {

double fluid_makespan(std::span<const StaticJob> jobs, std::int32_t processors, StaticRule rule) {
    std::vector<StaticJob> left(jobs.begin(), jobs.end());
    for (const StaticJob& job : left)
        ZBS_EXPECTS(job.processors >= 1 && job.processors <= processors && job.seconds > 0);
    if (rule == StaticRule::kSimpleGang) {
        double sum = 0;
        for (const StaticJob& job : left) sum += job.seconds;
        return sum;
    }
    std::ranges::stable_sort(left, std::ranges::greater{}, &StaticJob::processors);
    double now = 0;
    while (!left.empty()) {
        std::vector<std::int32_t> free;
        std::vector<std::size_t> row_of;
        for (const StaticJob& job : left) {
            const auto row = std::ranges::find_if(free, [&](std::int32_t f) { return f >= job.processors; });
            row_of.push_back(static_cast<std::size_t>(row - free.begin()));
            if (row == free.end()) free.push_back(processors);
            free[row_of.back()] -= job.processors;
        }
        std::vector<std::int32_t> slices(left.size(), 1);
        if (rule == StaticRule::kFirstFitDecreasingFill)
            for (std::size_t row = 0; row < free.size(); ++row)
                for (std::size_t i = 0; i < left.size(); ++i)
                    if (row_of[i] != row && left[i].processors <= free[row]) {
                        free[row] -= left[i].processors;
                        ++slices[i];
                    }
        // Seconds of a full turn of all slices are `rows` times one slice; a job gets `slices` of them.
        double step = std::numeric_limits<double>::max();
        const auto rows = static_cast<double>(free.size());
        for (std::size_t i = 0; i < left.size(); ++i) step = std::min(step, left[i].seconds * rows / slices[i]);
        now += step;
        std::vector<StaticJob> rest;
        for (std::size_t i = 0; i < left.size(); ++i) {
            StaticJob job = left[i];
            job.seconds -= step * slices[i] / rows;
            if (job.seconds > 1e-12 * left[i].seconds) rest.push_back(job);
        }
        ZBS_EXPECTS(rest.size() < left.size());
        left = std::move(rest);
    }
    return now;
}

double optimal_makespan(std::span<const StaticJob> jobs, std::int32_t processors) {
    double longest = 0, area = 0;
    for (const StaticJob& job : jobs) {
        longest = std::max(longest, job.seconds);
        area += job.seconds * job.processors;
    }
    return std::max(longest, area / processors);
}

}  // namespace zbs::gang
