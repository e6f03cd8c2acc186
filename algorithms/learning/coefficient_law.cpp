#include "algorithms/learning/coefficient_law.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace zbs::learning {
namespace {

using Kind = Pattern::Kind;

constexpr double kSteepest = 3;
constexpr double kNoSpread = 1e-6;
/// How far a slope is taken to a natural one.
constexpr double kMinRounding = 0.05, kMaxRounding = 0.2;
/// Half of a doubling from level to level: beyond it the volumes follow the size of a subtree.
const double kGrowing = std::log(2.0) / 2;

struct Point {
    double x, y;  // logarithms, or a level
    double weight = 1;
};
struct Mean {
    double x = 0, y = 0;
};
Mean mean_of_points(std::span<const Point> points) {
    Mean mean;
    double weight = 0;
    for (const Point& p : points) {
        weight += p.weight;
        mean.x += p.weight * p.x;
        mean.y += p.weight * p.y;
    }
    return {mean.x / weight, mean.y / weight};
}

/// Sums of a least-squares line through points around their mean, or of one slope through several such sets.
struct SlopeSums {
    double xx = 0, xy = 0, yy = 0;
    int freedom = -1;  ///< points that are neither used up by means nor by the slope

    void add(std::span<const Point> points) {
        const Mean mean = mean_of_points(points);
        for (const Point& p : points) {
            xx += p.weight * (p.x - mean.x) * (p.x - mean.x);
            xy += p.weight * (p.x - mean.x) * (p.y - mean.y);
            yy += p.weight * (p.y - mean.y) * (p.y - mean.y);
        }
        freedom += static_cast<int>(points.size()) - 1;
    }
    bool is_known() const { return xx > kNoSpread; }
    double slope() const { return xy / xx; }
    /// The slope, or the multiple of `unit` that may as well be meant.
    double natural_slope(double unit) const {
        const double variance = freedom > 0 ? std::max(0.0, yy - xy * xy / xx) / freedom : 0;
        const double reach = std::min(kMaxRounding, std::max(kMinRounding, 2 * std::sqrt(variance / xx)));
        const double natural = unit * std::round(slope() / unit);
        return std::abs(slope() - natural) <= reach ? natural : slope();
    }
};

struct ClassPoints {
    std::vector<Point> points;
    Mean mean;
};
using Classes = std::map<int, ClassPoints>;

double assumed_exponent(const Pattern& pattern, bool by_border, double growth, const LawRequest& request) {
    const bool strong = request.scaling == Scaling::kStrong;
    const bool with_master = pattern.kind == Kind::kFirstWithAll || pattern.kind == Kind::kLastWithAll;
    if (request.messages) return strong && with_master ? -1 : 0;
    if (request.small && pattern.kind != Kind::kStencil) return 0;
    switch (pattern.kind) {
        case Kind::kStencil:
            return by_border && strong ? -1 : 0;
        case Kind::kAllPairs:
            return strong ? -2 : -1;
        case Kind::kRowPairs:
        case Kind::kColumnPairs:
            return strong ? -1.5 : -0.5;
        case Kind::kRowHypercube:
        case Kind::kColumnHypercube:
            return strong ? -0.5 : 0;
        case Kind::kBinomialTree:
            return strong && growth > kGrowing ? -1 : 0;  // gathered and scattered parts shrink, what all get does not
        case Kind::kHypercube:
        case Kind::kDoubling:
            return strong && growth > -kGrowing ? -1 : 0;  // halving sends parts of a vector that all have
        case Kind::kFirstWithAll:
        case Kind::kLastWithAll:
            return strong ? -1 : 0;
    }
    return 0;
}

/// Positive amounts by class; classes that have died out by the nearest number of ranks are left out.
Classes points_by_class(const Pattern& pattern, std::span<const Coefficient> known, int wanted) {
    std::map<int, std::pair<double, bool>> nearest;  // distance, still alive
    for (const Coefficient& c : known) {
        const double distance = std::abs(std::log(static_cast<double>(c.ranks) / wanted));
        const auto [at, fresh] = nearest.try_emplace(c.of_class, distance, c.amount > 0);
        if (!fresh && distance < at->second.first) at->second = {distance, c.amount > 0};
    }
    Classes classes;
    for (const Coefficient& c : known) {
        if (c.amount <= 0 || !nearest.at(c.of_class).second) continue;
        classes[c.of_class].points.push_back(
            {logarithmic_scale(pattern, c.of_class, c.ranks), std::log(c.amount), c.pairs});
    }
    for (auto& [number, found] : classes) found.mean = mean_of_points(found.points);
    return classes;
}

struct Line {
    double slope = 0, at_zero = 0;
};

/// The line of mean logarithms over levels; what stands aside has none.
Line over_levels(const Pattern& pattern, const Classes& classes, double exponent, double x) {
    if (!has_levels(pattern)) return {};
    std::vector<Point> levels;
    for (const auto& [number, found] : classes) {
        if (number == kAside) continue;
        double pairs = 0;
        for (const Point& p : found.points) pairs += p.weight;
        levels.push_back({static_cast<double>(number), found.mean.y + exponent * (x - found.mean.x), pairs});
    }
    if (levels.empty()) return {};
    SlopeSums sums;
    sums.add(levels);
    const double slope = sums.is_known() ? sums.natural_slope(std::log(2.0)) : 0;
    const Mean mean = mean_of_points(levels);
    return {slope, mean.y - slope * mean.x};
}

bool scales_by_border(const Pattern& pattern, int of_class) {
    return pattern.kind == Kind::kStencil &&
           !std::cmp_equal(std::popcount(moving_dimensions(of_class, pattern.grid.dimensions)),
                           pattern.grid.dimensions);
}

/// Those of one kind of scale; the sums of all their points.
std::pair<Classes, SlopeSums> chosen_classes(const Pattern& pattern, const Classes& all, bool by_border) {
    std::pair<Classes, SlopeSums> chosen;
    for (const auto& [number, found] : all) {
        if (scales_by_border(pattern, number) != by_border) continue;
        chosen.first.emplace(number, found);
        chosen.second.add(found.points);
    }
    return chosen;
}

}  // namespace

double PowerLaw::at(double x) const { return std::exp(logarithm_of_factor + exponent * std::log(x)); }

PowerLaw fit_power_law(std::span<const LawPoint> points, double assumed) {
    ZBS_EXPECTS(!points.empty());
    std::vector<Point> logarithms;
    for (const LawPoint& p : points) {
        ZBS_EXPECTS(p.x > 0 && p.amount > 0);
        logarithms.push_back({std::log(p.x), std::log(p.amount)});
    }
    SlopeSums sums;
    sums.add(logarithms);
    const double exponent = std::clamp(sums.is_known() ? sums.slope() : assumed, -kSteepest, kSteepest);
    const Mean mean = mean_of_points(logarithms);
    return {exponent, mean.y - exponent * mean.x};
}

LawPrediction predict_coefficients(const Pattern& pattern, std::span<const Coefficient> known,
                                   std::span<const int> wanted_classes, const LawRequest& request) {
    LawPrediction predicted;
    const Classes all = points_by_class(pattern, known, request.wanted);
    // The highest level that any run had; where it carried nothing, higher ones do not either.
    int highest = -1;
    for (const Coefficient& c : known)
        if (c.of_class != kAside) highest = std::max(highest, c.of_class);
    double squares = 0, counted = 0;
    for (const bool by_border : {true, false}) {
        const auto [classes, sums] = chosen_classes(pattern, all, by_border);
        if (classes.empty()) continue;
        double exponent = 0;
        if (sums.is_known()) {
            exponent = std::clamp(sums.natural_slope(0.5), -kSteepest, kSteepest);
        } else {
            exponent = assumed_exponent(pattern, by_border, over_levels(pattern, classes, 0, 0).slope, request);
            predicted.fitted = false;
        }
        for (const auto& [number, found] : classes) {
            for (const Point& p : found.points) {
                const double rest = p.y - found.mean.y - exponent * (p.x - found.mean.x);
                squares += p.weight * rest * rest;
                counted += p.weight;
            }
        }
        const double scale = logarithmic_scale(pattern, classes.begin()->first, request.wanted);
        const Line levels = over_levels(pattern, classes, exponent, scale);
        for (const int number : wanted_classes) {
            if (scales_by_border(pattern, number) != by_border) continue;
            if (const auto at = classes.find(number); at != classes.end()) {
                const double x = logarithmic_scale(pattern, number, request.wanted);
                const Mean& mean = at->second.mean;
                predicted.amount_of_class[number] = std::exp(mean.y + exponent * (x - mean.x));
            } else if (has_levels(pattern) && number != kAside && number > highest && classes.contains(highest)) {
                predicted.amount_of_class[number] = std::exp(levels.at_zero + levels.slope * number);
            }
        }
    }
    if (has_levels(pattern) && !all.contains(kAside) && predicted.amount_of_class.contains(0)) {
        // Whoever stands aside hands over what the first exchange carries.
        for (const int number : wanted_classes)
            if (number == kAside) predicted.amount_of_class[kAside] = predicted.amount_of_class[0];
    }
    for (const int number : wanted_classes) predicted.amount_of_class.try_emplace(number, 0.0);
    predicted.residual = counted > 0 ? std::sqrt(squares / counted) : 0;
    return predicted;
}

}  // namespace zbs::learning
