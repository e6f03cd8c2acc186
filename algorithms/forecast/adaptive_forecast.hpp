#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/forecast/forecaster.hpp"

namespace zbs::forecast {

/// By which error forecasters are judged. No single forecast is best by both: on a processor that is either busy or
/// idle the median errs least on average, and the mean has the least squares.
enum class Loss : std::uint8_t { kAbsolute, kSquared };
inline constexpr std::array kLosses{Loss::kAbsolute, Loss::kSquared};

/// Sums of errors: over all time, and with weights that fade by kFade a value.
struct ErrorSums {
    double absolute = 0, squared = 0;
    double recent_absolute = 0, recent_squared = 0;
};
inline constexpr double kFade = 0.998;  ///< about 500 values count

/// In the unit of the series.
struct MeanErrors {
    double absolute = 0;
    double root_mean_square = 0;
    bool operator==(const MeanErrors&) const = default;
};

struct Forecast {
    double value = 0;             ///< what is expected a period after the last value
    std::string_view forecaster;  ///< whose value it is, or "blend"
    /// How far this way of choosing was off so far: `recent` is what belongs behind a "+-". None before the second
    /// value.
    std::optional<MeanErrors> recent, all_time;
};

/// One forecaster beside the others.
struct Standing {
    std::string_view forecaster;
    double next = 0;
    std::optional<MeanErrors> recent, all_time;  ///< none before the second value
};

/// Forecasts a series by the forecaster that has erred least [Wolski1998], or by a blend of those that are nearly as
/// good, whichever of the two has been better. Not thread-safe. A function of what was observed.
///
/// Values are expected once a `period`. One that comes early, or up to half a period late, counts as on time; with more
/// delay those between are missing: windows move on, no forecaster is judged by the value after the gap, and none
/// learns from it how neighbours differ.
class AdaptiveForecast {
  public:
    /// Error: the period is not positive.
    static Result<AdaptiveForecast> make(Duration period);

    /// Takes the value measured at `at`. Error, and nothing changed: it is no number or beyond kMaxValue, or `at` is
    /// not after the last value's time. About 8 us.
    Result<void> observe(Time at, double value);

    /// Nothing before the first value.
    std::optional<Forecast> forecast(Loss loss) const;
    /// Every forecaster, in a fixed order; empty before the first value.
    std::vector<Standing> standings() const;

  private:
    struct Single {
        NamedForecaster named;
        ErrorSums errors;
        double next = 0;
    };
    /// Who answers for one loss, and what.
    struct Answer {
        std::size_t leader = 0;  ///< least recent error; the first of equals
        double blend = 0;
        bool by_blend = false;
        double value = 0;
    };

    /// What each way of choosing has lost, fading, and how far the answers were off.
    struct Choice {
        double leader = 0, blend = 0;
        ErrorSums answer;
    };

    explicit AdaptiveForecast(Duration period);
    void judge(double value);
    void prepare();
    double blend_of(Loss loss, std::size_t leader) const;
    std::int64_t missing_before(Time at) const;
    std::optional<MeanErrors> recent(const ErrorSums& sums) const;
    std::optional<MeanErrors> all_time(const ErrorSums& sums) const;
    double weight() const;

    Duration period_;
    std::int64_t observed_ = 0;  ///< values
    std::int64_t scored_ = 0;    ///< those among them that came when they were due, so that forecasts could be judged
    Time last_{};                ///< when the last value came
    std::vector<Single> singles_;
    std::array<Choice, kLosses.size()> choices_;  ///< by Loss
    std::array<Answer, kLosses.size()> answers_;
};

}  // namespace zbs::forecast
