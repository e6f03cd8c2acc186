#include "algorithms/learning/run_time.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "algorithms/learning/coefficient_law.hpp"
#include "algorithms/learning/merge_profiles.hpp"

namespace zbs::learning {
namespace {

double median_of_newest(const std::vector<double>& seconds) {
    std::vector<double> newest(seconds.end() - static_cast<std::ptrdiff_t>(std::min(seconds.size(), kMergedRuns)),
                               seconds.end());
    std::sort(newest.begin(), newest.end());
    return newest[(newest.size() - 1) / 2] / 2 + newest[newest.size() / 2] / 2;
}

}  // namespace

std::optional<double> predict_run_time(std::span<const TimedRun> runs, int wanted) {
    std::map<int, std::vector<double>> by_ranks;
    for (const TimedRun& run : runs)
        if (run.seconds > 0 && std::isfinite(run.seconds)) by_ranks[run.ranks].push_back(run.seconds);
    if (const auto at = by_ranks.find(wanted); at != by_ranks.end()) return median_of_newest(at->second);
    if (by_ranks.size() < 2) return {};
    std::vector<LawPoint> points;
    for (const auto& [ranks, seconds] : by_ranks)
        points.push_back({static_cast<double>(ranks), median_of_newest(seconds)});
    return fit_power_law(points, 0).at(wanted);
}

}  // namespace zbs::learning
