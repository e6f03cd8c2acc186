#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace zbs::claims {

/// A value for each seed, in the order of seeds.
using Samples = std::vector<double>;

/// 0 for none.
double mean(const Samples& samples);
/// Standard deviation of the sample; 0 for fewer than two.
double deviation(const Samples& samples);
/// Seed by seed. Precondition: of equal lengths.
Samples ratio(const Samples& a, const Samples& b);
Samples difference(const Samples& a, const Samples& b);

/// Whether a >= b by the means, but for what the seeds scatter: one standard error of the paired difference. A tie
/// counts.
bool at_least(const Samples& a, const Samples& b);
/// Whether a > b by more than two standard errors of the paired difference.
bool clearly_more(const Samples& a, const Samples& b);

/// In place of a number that there is not: a mean of nothing, a quotient by zero.
constexpr std::string_view kUndefined = "undefined";
/// With so many decimals, or kUndefined.
std::string number(double value, int decimals = 2);
/// "mean ± deviation".
std::string text_of(const Samples& samples, int decimals = 2);

}  // namespace zbs::claims
