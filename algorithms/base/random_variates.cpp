#include "algorithms/base/random_variates.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace zbs {

// 1 - uniform is in (0, 1]: its logarithm is finite.
double draw_exponential(Rng& rng) { return -std::log(1 - rng.uniform()); }

double draw_normal(Rng& rng) {
    for (;;) {
        const double u = 2 * rng.uniform() - 1, v = 2 * rng.uniform() - 1;
        const double square = u * u + v * v;
        if (square > 0 && square < 1) return u * std::sqrt(-2 * std::log(square) / square);
    }
}

double draw_gamma(Rng& rng, double shape) {
    ZBS_EXPECTS(shape > 0 && std::isfinite(shape));
    // Below one: the variable of one more, thinned.
    if (shape < 1) {
        const double larger = draw_gamma(rng, shape + 1);
        return larger * std::pow(1 - rng.uniform(), 1 / shape);
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = draw_normal(rng);
        const double root = 1 + c * x;
        if (root <= 0) continue;
        const double v = root * root * root;
        if (std::log(1 - rng.uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) return d * v;
    }
}

double gamma_distribution(double x, double shape) {
    ZBS_EXPECTS(shape > 0 && std::isfinite(shape));
    if (!(x > 0)) return 0;
    constexpr double kSmall = 1e-15;
    const double front = std::exp(shape * std::log(x) - x - std::lgamma(shape));
    if (x < shape + 1) {
        double term = 1 / shape, sum = term;
        for (double n = shape + 1; term > sum * kSmall; ++n) {
            term *= x / n;
            sum += term;
        }
        return front * sum;
    }
    // The continued fraction of the rest, evaluated from its front [Lentz1976].
    constexpr double kTiny = 1e-300;
    double b = x + 1 - shape, c = 1 / kTiny, d = 1 / b, fraction = d;
    for (int i = 1; i < 100'000; ++i) {
        const double a = -i * (i - shape);
        b += 2;
        d = a * d + b;
        if (std::abs(d) < kTiny) d = kTiny;
        c = b + a / c;
        if (std::abs(c) < kTiny) c = kTiny;
        d = 1 / d;
        fraction *= c * d;
        if (std::abs(c * d - 1) < kSmall) break;
    }
    return 1 - front * fraction;
}

Result<HyperErlang> HyperErlang::make(double p, double rate1, double rate2, int order) {
    if (!(p >= 0 && p <= 1)) return invalid("the probability of a hyper-Erlang branch must lie in 0 .. 1");
    if (!(rate1 > 0 && std::isfinite(rate1) && rate2 > 0 && std::isfinite(rate2)))
        return invalid("rates of a hyper-Erlang variable must be above zero");
    if (order < 1 || order > kMaxOrder)
        return invalid("the order of a hyper-Erlang variable must lie in 1 .. " + std::to_string(kMaxOrder));
    return HyperErlang{p, rate1, rate2, order};
}

Result<HyperErlang> HyperErlang::fit(const std::array<double, 3>& moments) {
    for (const double moment : moments)
        if (!(moment > 0 && std::isfinite(moment))) return invalid("moments must be above zero");
    // What is left to fit is a variable with two values, the branches' means of one stage, and these moments. They are
    // taken in units of the mean, so that no product leaves the range of numbers.
    const double second = moments[1] / moments[0] / moments[0];
    const double third = moments[2] / moments[0] / moments[0] / moments[0];
    if (!std::isfinite(second) || !std::isfinite(third)) return invalid("moments must fit each other");
    // A single Erlang variable has the least second moment of its order, and a rounded one falls short of it.
    constexpr double kRounding = 1e-12;
    for (int n = 1; n <= kMaxOrder; ++n) {
        const double m1 = 1.0 / n, m2 = second / n / (n + 1), m3 = third / n / (n + 1) / (n + 2);
        const double variance = m2 - m1 * m1;
        const double skew = m1 * m3 - m2 * m2;
        if (std::abs(variance) <= kRounding * m2 && std::abs(skew) <= 4 * kRounding * m2 * m2)
            return HyperErlang{1, n / moments[0], n / moments[0], n};
        if (variance <= kRounding * m2 || skew <= 0) continue;
        const double sum = (m3 - m1 * m2) / variance, product = skew / variance;
        const double root = std::sqrt(std::max(0.0, sum * sum - 4 * product));
        const double high = (sum + root) / 2, low = product / high;
        if (!(low > 0 && high > low)) continue;
        const double p = std::clamp((m1 - high) / (low - high), 0.0, 1.0);
        return make(p, 1 / (low * moments[0]), 1 / (high * moments[0]), n);
    }
    return invalid("no hyper-Erlang variable of order 1 .. " + std::to_string(kMaxOrder) +
                   " has these moments: the second must exceed the squared mean, and the third be large enough for it");
}

Result<HyperErlang> HyperErlang::fit_gamma(double mean, double cv) {
    if (!(mean > 0 && std::isfinite(mean) && cv > 0 && cv < 1e6))
        return invalid("mean and coefficient of variation must be above zero, the latter below 1e6");
    const double c2 = cv * cv;
    return fit({mean, mean * mean * (1 + c2), mean * mean * mean * (1 + c2) * (1 + 2 * c2)});
}

double HyperErlang::moment(int k) const {
    ZBS_EXPECTS(k >= 1 && k <= 3);
    double stages = 1;
    for (int i = 0; i < k; ++i) stages *= order + i;
    return stages * (p / std::pow(rate1, k) + (1 - p) / std::pow(rate2, k));
}

double HyperErlang::draw(Rng& rng) const {
    const double rate = rng.uniform() < p ? rate1 : rate2;
    double sum = 0;
    for (int i = 0; i < order; ++i) sum += draw_exponential(rng);
    return sum / rate;
}

}  // namespace zbs
