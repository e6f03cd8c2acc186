#include "algorithms/base/random_variates.hpp"

#include <cmath>

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

}  // namespace zbs
