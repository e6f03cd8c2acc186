#include "algorithms/model/speedup.hpp"

#include <algorithm>

#include "algorithms/base/expects.hpp"

namespace zbs {

SizeRange size_range(const Job& job, std::int32_t processors) {
    const std::int32_t best = std::min(job.processors, processors);
    if (job.flexibility == Flexibility::kRigid) return {best, best, best};
    const std::int32_t twice = best > processors / 2 ? processors : 2 * best;
    return {std::max(best / 2, 1), best, twice};
}

double speedup(const SizeRange& range, std::int32_t n) {
    ZBS_EXPECTS(range.least <= n && n <= range.most);
    struct Knot {
        double size, speedup;
    };
    const Knot least{static_cast<double>(range.least), 0.8 * range.least};
    const Knot best{static_cast<double>(range.best), 0.65 * range.best};
    const Knot most{static_cast<double>(range.most), 0.5 * range.most};
    const auto between = [n](const Knot& a, const Knot& b) {
        return a.speedup + (b.speedup - a.speedup) / (b.size - a.size) * (n - a.size);
    };
    if (n == range.best) return best.speedup;
    return n < range.best ? between(least, best) : between(best, most);
}

double relative_speed(const SizeRange& range, std::int32_t n) { return speedup(range, n) / speedup(range, range.best); }

}  // namespace zbs
