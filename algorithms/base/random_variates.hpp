#pragma once
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

}  // namespace zbs
