#include "algorithms/learning/process_grid.hpp"

#include <algorithm>
#include <vector>

namespace zbs::learning {
namespace {

std::vector<int> divisors_of(int number) {
    std::vector<int> all;
    for (int d = 1; d <= number / d; ++d) {
        if (number % d != 0) continue;
        all.push_back(d);
        if (d != number / d) all.push_back(number / d);
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// The larger factor of two.
int larger_of_two(int number) {
    int smaller = 1;
    for (int d = 2; d <= number / d; ++d)
        if (number % d == 0) smaller = d;
    return number / smaller;
}

}  // namespace

std::string to_string(const GridRule& rule) {
    switch (rule.shape) {
        case GridRule::Shape::kBalanced:
            return "balanced";
        case GridRule::Shape::kReversed:
            return "balanced, longest last";
        case GridRule::Shape::kFixedFastest:
            return "rows of " + std::to_string(rule.fixed);
        case GridRule::Shape::kFixedSlowest:
            return std::to_string(rule.fixed) + " rows";
    }
    return {};
}

std::array<int, 3> balanced_factors(int ranks, int dimensions) {
    ZBS_EXPECTS(ranks >= 1 && dimensions >= 1 && dimensions <= 3);
    if (dimensions == 1) return {ranks, 1, 1};
    if (dimensions == 2) {
        const int larger = larger_of_two(ranks);
        return {larger, ranks / larger, 1};
    }
    std::array<int, 3> best{ranks, 1, 1};
    for (const int smallest : divisors_of(ranks)) {
        if (static_cast<long long>(smallest) * smallest * smallest > ranks) break;
        // For a given smallest the other two are closest to each other in the best choice.
        const int rest = ranks / smallest;
        const int larger = larger_of_two(rest), middle = rest / larger;
        std::array<int, 3> found{larger, middle, smallest};
        std::sort(found.rbegin(), found.rend());
        const int spread = found[0] - found[2], least = best[0] - best[2];
        if (spread < least || (spread == least && found[0] < best[0])) best = found;
    }
    return best;
}

std::optional<ProcessGrid> grid_of(const GridRule& rule, int ranks) {
    ZBS_EXPECTS(ranks >= 1 && rule.dimensions >= 1 && rule.dimensions <= 3);
    ProcessGrid grid{.length = {1, 1, 1}, .dimensions = rule.dimensions};
    switch (rule.shape) {
        case GridRule::Shape::kBalanced:
        case GridRule::Shape::kReversed:
            grid.length = balanced_factors(ranks, rule.dimensions);
            if (rule.shape == GridRule::Shape::kReversed)
                std::reverse(grid.length.begin(), grid.length.begin() + rule.dimensions);
            break;
        case GridRule::Shape::kFixedFastest:
        case GridRule::Shape::kFixedSlowest:
            ZBS_EXPECTS(rule.dimensions == 2 && rule.fixed >= 1);
            if (ranks % rule.fixed != 0) return {};
            grid.length = {ranks / rule.fixed, rule.fixed, 1};
            if (rule.shape == GridRule::Shape::kFixedSlowest) std::swap(grid.length[0], grid.length[1]);
            break;
    }
    return grid;
}

}  // namespace zbs::learning
