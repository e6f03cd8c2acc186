#include "tests/unit/forecast/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numbers>

#include "algorithms/base/random_variates.hpp"
#include "tests/support/source_folder.hpp"

namespace zbs::forecast::test {
namespace {

/// A series made value by value.
template <class Next>
Series repeat(Next&& next) {
    Series series;
    for (int i = 0; i < kLength; ++i) series.push_back(next(i));
    return series;
}

Series constant(std::uint64_t seed) {
    return repeat([value = Rng(seed).uniform()](int) { return value; });
}

Series white_noise(std::uint64_t seed) {
    return repeat([rng = Rng(seed)](int) mutable { return 10 + draw_normal(rng); });
}

Series autoregressive(std::uint64_t seed, double phi) {
    return repeat([=, rng = Rng(seed), x = 0.0](int) mutable { return 10 + (x = phi * x + draw_normal(rng)); });
}

Series random_walk(std::uint64_t seed) {
    return repeat([rng = Rng(seed), x = 0.0](int) mutable { return x += draw_normal(rng); });
}

/// Levels that stay for 200 values on average, measured with noise of a tenth of their spread, or of none.
Series steps(std::uint64_t seed, double noise) {
    return repeat([=, rng = Rng(seed), level = 0.0](int i) mutable {
        if (i == 0 || rng.below(200) == 0) level = 10 * rng.uniform();
        return level + noise * draw_normal(rng);
    });
}

/// Noise, and in one value of fifty something much larger that is gone again in the next.
Series spikes(std::uint64_t seed) {
    return repeat([rng = Rng(seed)](int) mutable {
        return 10 + draw_normal(rng) + (rng.below(50) == 0 ? 30 * draw_exponential(rng) : 0);
    });
}

/// A day of 288 values of five minutes each.
Series daily_cycle(std::uint64_t seed) {
    return repeat([rng = Rng(seed)](int i) mutable {
        return 10 + 5 * std::sin(2 * std::numbers::pi * i / 288) + draw_normal(rng);
    });
}

/// By turns, 500 values each on average: noise about a mean, a walk, and slow swings about another mean.
Series regimes(std::uint64_t seed) {
    return repeat([rng = Rng(seed), regime = std::uint64_t{0}, x = 0.0](int) mutable {
        if (rng.below(500) == 0) regime = rng.below(3);
        const double noise = draw_normal(rng);
        if (regime == 0) return x = 10 + noise;
        if (regime == 1) return x += noise;
        return x = 30 + 0.9 * (x - 30) + noise;
    });
}

/// Fractionally differenced noise of order 0.4 (Hurst exponent 0.9), its filter cut at 2,000 values.
Series long_range_dependent(std::uint64_t seed) {
    constexpr int kFilter = 2'000;
    std::vector<double> weights{1};
    for (int k = 1; k < kFilter; ++k) weights.push_back(weights.back() * (k - 1 + 0.4) / k);
    Rng rng(seed);
    std::vector<double> noise;
    for (int i = 0; i < kFilter + kLength; ++i) noise.push_back(draw_normal(rng));
    return repeat([&](int i) {
        double sum = 10;
        for (int k = 0; k < kFilter; ++k) sum += weights[k] * noise[kFilter + i - k];
        return sum;
    });
}

/// The share of a processor that a new process would get beside four others, each of which computes and rests for times
/// with a heavy tail (Pareto, 1.5, at least five values); measured with a little noise, within 0..1.
Series processor_share(std::uint64_t seed) {
    struct Process {
        bool computes = false;
        double left = 0;
    };
    return repeat([rng = Rng(seed), others = std::array<Process, 4>{}](int) mutable {
        double load = 1;
        for (Process& other : others) {
            if ((other.left -= 1) <= 0) {
                other.computes = !other.computes;
                other.left = 5 * std::pow(1 - rng.uniform(), -1 / 1.5) * (other.computes ? 1 : 3);
            }
            load += other.computes ? 1 : 0;
        }
        return std::clamp(1 / load + 0.03 * draw_normal(rng), 0.0, 1.0);
    });
}

/// Values that are always positive and sometimes ten times as large as usual, such as delays.
Series heavy_tail(std::uint64_t seed) {
    return repeat([rng = Rng(seed), x = 0.0](int) mutable {
        x = 0.5 * x + draw_normal(rng);
        return std::exp(x);
    });
}

}  // namespace

const std::vector<Synthetic>& synthetic_series() {
    static const std::vector<Synthetic> all{
        {"constant", constant},
        {"white_noise", white_noise},
        {"autoregressive_0.9", [](std::uint64_t seed) { return autoregressive(seed, 0.9); }},
        {"autoregressive_0.5", [](std::uint64_t seed) { return autoregressive(seed, 0.5); }},
        {"alternating", [](std::uint64_t seed) { return autoregressive(seed, -0.6); }},
        {"random_walk", random_walk},
        {"steps_exact", [](std::uint64_t seed) { return steps(seed, 0); }},
        {"steps_with_noise", [](std::uint64_t seed) { return steps(seed, 0.3); }},
        {"spikes", spikes},
        {"daily_cycle", daily_cycle},
        {"regimes", regimes},
        {"long_range_dependent", long_range_dependent},
        {"processor_share", processor_share},
        {"heavy_tail", heavy_tail},
    };
    return all;
}

const std::vector<std::string>& recorded_names() {
    static const std::vector<std::string> all{"kth_sp2_busy",   "hpc2n_busy",     "hpc2n_wait",
                                              "sdsc_blue_busy", "cea_curie_busy", "kth_sp2_busy_later",
                                              "sdsc_blue_wait", "machine_delay",  "machine_share"};
    return all;
}

Series read_recorded(const std::string& name) {
    std::ifstream file(zbs::test::source_folder() + "/tests/unit/forecast/recorded/" + name + ".csv");
    Series series;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        double value = 0;
        const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), value);
        if (fault != std::errc{} || end != line.data() + line.size()) {
            ADD_FAILURE() << name << ".csv: not a number: " << line;
            return {};
        }
        series.push_back(value);
    }
    EXPECT_GE(series.size(), 2'000U) << name << ".csv";
    return series;
}

}  // namespace zbs::forecast::test
