#include "algorithms/forecast/adaptive_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "algorithms/forecast/window.hpp"

namespace zbs::forecast {
namespace {

/// Once all of the memory is used, a forecaster weighs e times less in the blend for every 4 % that it has lost more
/// than the leader; before, the weights are more even.
constexpr double kBlendRate = 0.05;
/// A longer gap has the same effect.
constexpr std::int64_t kMaxMissing = 1'000'000;

double loss_of(Loss loss, double error) { return loss == Loss::kAbsolute ? std::abs(error) : error * error; }
double recent_of(Loss loss, const ErrorSums& sums) {
    return loss == Loss::kAbsolute ? sums.recent_absolute : sums.recent_squared;
}

void add(ErrorSums& sums, double error) {
    sums.absolute += std::abs(error);
    sums.squared += error * error;
    sums.recent_absolute = kFade * sums.recent_absolute + std::abs(error);
    sums.recent_squared = kFade * sums.recent_squared + error * error;
}

Error refused(const std::string& what, const std::string& remedy) {
    return invalid("forecast: " + what + "; " + remedy);
}

}  // namespace

AdaptiveForecast::AdaptiveForecast(Duration period) : period_(period) {
    for (NamedForecaster& named : make_forecasters()) singles_.push_back({.named = std::move(named)});
}

Result<AdaptiveForecast> AdaptiveForecast::make(Duration period) {
    if (period <= Duration::zero())
        return refused("a period of " + std::to_string(period.count()) + " us", "say how often values come, e.g. 10 s");
    return AdaptiveForecast(period);
}

Result<void> AdaptiveForecast::observe(Time at, double value) {
    if (!is_value(value)) {
        std::ostringstream text;
        text << "the value " << value << " at " << to_microseconds(at) << " us is not a number within +-" << kMaxValue;
        return refused(text.str(), "leave it out: a missing value does no harm");
    }
    if (observed_ > 0 && at <= last_) {
        return refused("a value at " + std::to_string(to_microseconds(at)) +
                           " us is not later than the one before, at " + std::to_string(to_microseconds(last_)) + " us",
                       "give values in the order of a clock that is never set back, or begin a new forecast");
    }
    const std::int64_t missing = observed_ > 0 ? missing_before(at) : 0;
    if (observed_ > 0 && missing == 0) judge(value);
    for (Single& single : singles_) {
        if (missing > 0) single.named.forecaster->miss(missing);
        single.named.forecaster->observe(value);
    }
    last_ = at;
    ++observed_;
    prepare();
    return {};
}

std::int64_t AdaptiveForecast::missing_before(Time at) const {
    // Unsigned: the times may be further apart than a Duration can say.
    const std::uint64_t elapsed =
        static_cast<std::uint64_t>(to_microseconds(at)) - static_cast<std::uint64_t>(to_microseconds(last_));
    const auto period = static_cast<std::uint64_t>(period_.count());
    const std::uint64_t whole = elapsed / period, rest = elapsed % period;
    const std::uint64_t periods = whole + (rest > period / 2 ? 1 : 0);
    if (periods <= 1) return 0;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(periods - 1, kMaxMissing));
}

void AdaptiveForecast::judge(double value) {
    for (const Loss loss : kLosses) {
        Choice& choice = choices_[std::size_t(loss)];
        const Answer& answer = answers_[std::size_t(loss)];
        choice.leader = kFade * choice.leader + loss_of(loss, value - singles_[answer.leader].next);
        choice.blend = kFade * choice.blend + loss_of(loss, value - answer.blend);
        add(choice.answer, value - answer.value);
    }
    for (Single& single : singles_) add(single.errors, value - single.next);
    ++scored_;
}

void AdaptiveForecast::prepare() {
    for (Single& single : singles_) single.next = single.named.forecaster->next();
    for (const Loss loss : kLosses) {
        Answer& answer = answers_[std::size_t(loss)];
        const auto least = std::ranges::min_element(
            singles_, {}, [loss](const Single& single) { return recent_of(loss, single.errors); });
        answer.leader = static_cast<std::size_t>(least - singles_.begin());
        answer.blend = blend_of(loss, answer.leader);
        const Choice& choice = choices_[std::size_t(loss)];
        answer.by_blend = choice.blend < choice.leader;
        answer.value = answer.by_blend ? answer.blend : least->next;
    }
}

/// The mean of all predictions, weighed by exp(-kBlendRate x what each has lost more than the leader, in units of the
/// leader's mean loss): a fading variant of prediction with exponential weights.
double AdaptiveForecast::blend_of(Loss loss, std::size_t leader) const {
    const double origin = singles_[leader].next;
    const double least = recent_of(loss, singles_[leader].errors);
    if (least == 0) return origin;
    const double rate = kBlendRate * weight();
    double weights = 0, sum = 0;
    for (const Single& single : singles_) {
        const double excess = (recent_of(loss, single.errors) - least) / least;
        const double share = std::exp(-rate * excess);
        weights += share;
        sum += share * (single.next - origin);
    }
    return origin + sum / weights;
}

std::optional<Forecast> AdaptiveForecast::forecast(Loss loss) const {
    if (observed_ == 0) return std::nullopt;
    const Answer& answer = answers_[std::size_t(loss)];
    const ErrorSums& errors = choices_[std::size_t(loss)].answer;
    return Forecast{.value = answer.value,
                    .forecaster = answer.by_blend ? "blend" : singles_[answer.leader].named.name,
                    .recent = recent(errors),
                    .all_time = all_time(errors)};
}

std::vector<Standing> AdaptiveForecast::standings() const {
    std::vector<Standing> standings;
    if (observed_ == 0) return standings;
    for (const Single& single : singles_)
        standings.push_back({single.named.name, single.next, recent(single.errors), all_time(single.errors)});
    return standings;
}

/// The sum of the fading weights of all scored values.
double AdaptiveForecast::weight() const { return (1 - std::pow(kFade, static_cast<double>(scored_))) / (1 - kFade); }

std::optional<MeanErrors> AdaptiveForecast::recent(const ErrorSums& sums) const {
    if (scored_ == 0) return std::nullopt;
    return MeanErrors{sums.recent_absolute / weight(), std::sqrt(sums.recent_squared / weight())};
}

std::optional<MeanErrors> AdaptiveForecast::all_time(const ErrorSums& sums) const {
    if (scored_ == 0) return std::nullopt;
    const auto count = static_cast<double>(scored_);
    return MeanErrors{sums.absolute / count, std::sqrt(sums.squared / count)};
}

}  // namespace zbs::forecast
