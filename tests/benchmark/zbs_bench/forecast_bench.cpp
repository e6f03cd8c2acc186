#include <benchmark/benchmark.h>

#include "algorithms/base/random_variates.hpp"
#include "algorithms/forecast/adaptive_forecast.hpp"

// What one more value costs: every forecaster takes it, is judged, and both answers are made anew.

namespace zbs::forecast {
namespace {

void forecast_observe(benchmark::State& state) {
    Rng rng(1);
    double level = 0;
    std::vector<double> values;
    for (int i = 0; i < 4'096; ++i) values.push_back(level = 0.9 * level + draw_normal(rng));

    AdaptiveForecast forecast = AdaptiveForecast::make(seconds_to_duration(1)).value();
    Time at{};
    std::size_t next = 0;
    for (auto _ : state) {
        if (!forecast.observe(at += seconds_to_duration(1), values[next++ % values.size()]))
            return state.SkipWithError("refused");
        benchmark::DoNotOptimize(forecast.forecast(Loss::kAbsolute)->value);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(forecast_observe);

}  // namespace
}  // namespace zbs::forecast
