#pragma once
#include <map>
#include <span>

#include "algorithms/learning/pattern.hpp"

namespace zbs::learning {

/// What grows with the number of ranks, where only one number is known.
enum class Scaling {
    kStrong,  ///< the same problem on more ranks
    kWeak     ///< the problem grows with the ranks
};

/// What each pair of a class carries at one number of ranks.
struct Coefficient {
    int ranks = 0;
    int of_class = 0;
    double amount = 0;  ///< bytes or messages, >= 0
    double pairs = 1;   ///< over which it is the mean: its weight in a fit
};

struct LawRequest {
    int wanted = 1;                      ///< ranks
    Scaling scaling = Scaling::kStrong;  ///< for what cannot be fitted
    bool messages = false;               ///< amounts are counts, not bytes
    bool small = false;                  ///< messages are so small that they hold no part of the problem
};

struct LawPrediction {
    std::map<int, double> amount_of_class;  ///< of every class of the pattern at the wanted number
    bool fitted = true;                     ///< exponents come from two numbers of ranks or more; else they are assumed
    double residual = 0;                    ///< root mean square of the logarithms that the law does not explain
};

/// The amounts of a pattern's classes at another number of ranks, by a power law of `logarithmic_scale`:
///
/// - Of classes that scale by the same thing (the common border, or the number of ranks) the exponent is one and the
/// same,
///   fitted by least squares over all of them where they are known for different scales; factors are the classes' own.
///   It is taken to the nearest multiple of 1/2 where that is within 0.05 or two standard errors, but not over 0.2: so
///   the noise of two runs of nearly the same size does not decide about a size far away.
/// - Else the exponent is assumed. Strong scaling: -1 for borders, for exchanges along a hypercube and with a master,
/// -2 for
///   all pairs, -1.5 for all pairs of a row, -0.5 for hypercubes of a row; 0 for 1-D neighbours, corners, broadcasts,
///   and small messages. Weak scaling: 0, -1 for all pairs, -0.5 for all pairs of a row. Message counts do not change
///   but with a master under strong scaling (-1).
/// - Levels (distance 2^k) that no known number of ranks has follow the line through the logarithms of the others; its
/// slope is
///   taken to a doubling, a halving or to none in the same way.
/// - A class whose amount is 0 at the nearest known number of ranks stays 0.
LawPrediction predict_coefficients(const Pattern& pattern, std::span<const Coefficient> known,
                                   std::span<const int> wanted_classes, const LawRequest& request);

/// c with amount = a * x^c, and a, by least squares over logarithms; the exponent is within -3..3. All positive.
struct PowerLaw {
    double exponent = 0;
    double logarithm_of_factor = 0;
    double at(double x) const;
};
struct LawPoint {
    double x = 1, amount = 1;
};
/// With `assumed` as exponent where all x are (nearly) the same. Precondition: not empty.
PowerLaw fit_power_law(std::span<const LawPoint> points, double assumed);

}  // namespace zbs::learning
