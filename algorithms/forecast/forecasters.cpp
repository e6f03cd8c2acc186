#include "algorithms/forecast/smoothing_forecasters.hpp"
#include "algorithms/forecast/window_forecasters.hpp"

namespace zbs::forecast {

std::vector<NamedForecaster> make_forecasters() {
    std::vector<NamedForecaster> all;
    const auto add = [&](std::string_view name, std::unique_ptr<Forecaster> forecaster) {
        all.push_back({name, std::move(forecaster)});
    };
    add("last_value", make_last_value());
    add("running_mean", make_running_mean());
    add("mean_5", make_sliding_mean(5));
    add("mean_10", make_sliding_mean(10));
    add("mean_20", make_sliding_mean(20));
    add("mean_50", make_sliding_mean(50));
    add("median_5", make_sliding_median(5));
    add("median_11", make_sliding_median(11));
    add("median_21", make_sliding_median(21));
    add("median_51", make_sliding_median(51));
    add("trimmed_mean_31", make_trimmed_mean(31, 0.3));
    add("trimmed_mean_51", make_trimmed_mean(51, 0.3));
    add("smoothing_0.05", make_exponential_smoothing(0.05));
    add("smoothing_0.1", make_exponential_smoothing(0.1));
    add("smoothing_0.2", make_exponential_smoothing(0.2));
    add("smoothing_0.3", make_exponential_smoothing(0.3));
    add("smoothing_0.5", make_exponential_smoothing(0.5));
    add("smoothing_0.75", make_exponential_smoothing(0.75));
    add("smoothing_0.9", make_exponential_smoothing(0.9));
    add("adaptive_smoothing", make_adaptive_smoothing());
    add("adaptive_mean", make_adaptive_mean(5, 50));
    add("adaptive_median", make_adaptive_median(5, 51));
    add("autoregression", make_autoregression(200));
    return all;
}

}  // namespace zbs::forecast
