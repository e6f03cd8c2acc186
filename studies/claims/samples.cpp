#include "studies/claims/samples.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "algorithms/base/expects.hpp"

namespace zbs::claims {
namespace {

Samples pairwise(const Samples& a, const Samples& b, double (*combine)(double, double)) {
    ZBS_EXPECTS(a.size() == b.size());
    Samples result;
    for (std::size_t i = 0; i < a.size(); ++i) result.push_back(combine(a[i], b[i]));
    return result;
}

double standard_error(const Samples& samples) {
    return samples.empty() ? 0 : deviation(samples) / std::sqrt(static_cast<double>(samples.size()));
}

}  // namespace

double mean(const Samples& samples) {
    if (samples.empty()) return 0;
    return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double deviation(const Samples& samples) {
    if (samples.size() < 2) return 0;
    const double middle = mean(samples);
    double sum = 0;
    for (const double value : samples) sum += (value - middle) * (value - middle);
    return std::sqrt(sum / static_cast<double>(samples.size() - 1));
}

Samples ratio(const Samples& a, const Samples& b) {
    return pairwise(a, b, [](double x, double y) { return x / y; });
}
Samples difference(const Samples& a, const Samples& b) {
    return pairwise(a, b, [](double x, double y) { return x - y; });
}

bool at_least(const Samples& a, const Samples& b) {
    const Samples d = difference(a, b);
    return mean(d) >= -standard_error(d);
}
bool clearly_more(const Samples& a, const Samples& b) {
    const Samples d = difference(a, b);
    return mean(d) > 2 * standard_error(d);
}

std::string number(double value, int decimals) {
    if (!std::isfinite(value)) return std::string(kUndefined);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
}
std::string text_of(const Samples& samples, int decimals) {
    return number(mean(samples), decimals) + " ± " + number(deviation(samples), decimals);
}

}  // namespace zbs::claims
