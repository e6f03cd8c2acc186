#pragma once
#include <array>

#include "algorithms/base/result.hpp"
#include "algorithms/base/rng.hpp"

namespace zbs {

/// Random numbers of other shapes than uniform, drawn from an Rng: a function of its state, up to the rounding of the
/// platform's log, exp and pow. std::*_distribution differ between standard libraries by more than that.

/// Exponential of mean 1.
double draw_exponential(Rng& rng);
/// Normal of mean 0 and variance 1, by the polar method.
double draw_normal(Rng& rng);
/// Gamma of mean `shape` and variance `shape` [MarsagliaTsang2000]. Precondition: shape > 0, finite.
double draw_gamma(Rng& rng, double shape);

/// P(X <= x) of a gamma variable of mean and variance `shape`, to about 1e-12: the series below the mean, the continued
/// fraction above. Precondition: shape > 0, finite; x <= 0 gives 0.
double gamma_distribution(double x, double shape);

/// Hyper-Erlang variable of common order [JannEtAl1997]: with probability `p` the sum of `order` exponentials of rate
/// `rate1`, else that of as many of rate `rate2`. Rates are per second (or per any unit of the caller).
struct HyperErlang {
    static constexpr int kMaxOrder = 1000;

    double p = 1;      ///< 0 .. 1
    double rate1 = 1;  ///< > 0, finite, as rate2
    double rate2 = 1;
    int order = 1;  ///< n, 1 .. kMaxOrder

    /// Errors, kInvalidArgument: a number out of its range.
    static Result<HyperErlang> make(double p, double rate1, double rate2, int order);

    /// The variable of least order with these raw moments E[X], E[X^2], E[X^3] [JannEtAl1997]. The moments fix the two
    /// means and the probability of a branch as the roots of a quadratic [JohnsonTaaffe1989].
    ///
    /// Errors, kInvalidArgument: no such variable of an order within kMaxOrder; that is so where the coefficient of
    /// variation is below 1 / sqrt(kMaxOrder), or the third moment is too small for the second.
    static Result<HyperErlang> fit(const std::array<double, 3>& moments);

    /// The variable with the mean, the coefficient of variation and the third moment of a gamma variable. A fit exists
    /// for all cv > 1 / sqrt(kMaxOrder). Errors as `fit`.
    static Result<HyperErlang> fit_gamma(double mean, double cv);

    /// E[X^k], k = 1 .. 3: n(n+1)...(n+k-1) (p / rate1^k + (1 - p) / rate2^k).
    double moment(int k) const;
    double mean() const { return moment(1); }
    /// Cost linear in `order`.
    double draw(Rng& rng) const;

    bool operator==(const HyperErlang&) const = default;
};

}  // namespace zbs
