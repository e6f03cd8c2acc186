#include "algorithms/forecast/forecaster.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/base/expects.hpp"
#include "algorithms/forecast/window.hpp"

namespace zbs::forecast {
namespace {

/// What a family makes of the values in a window.
class Summary {
  public:
    enum class Kind : std::uint8_t { kMean, kMedian, kTrimmed };
    explicit Summary(Kind kind, double share = 0) : kind_(kind), share_(share) {}

    double of(std::span<const double> values) const {
        switch (kind_) {
            case Kind::kMean:
                return mean(values);
            case Kind::kMedian:
                return median(values);
            case Kind::kTrimmed:
                break;
        }
        return trimmed_mean(values, share_);
    }

  private:
    Kind kind_;
    double share_;
};

class Sliding final : public Forecaster {
  public:
    Sliding(Summary summary, std::size_t window) : summary_(summary), window_(window) {}

    void observe(double value) override {
        window_.push(value);
        next_ = summary_.of(window_.values());
    }
    void miss(std::int64_t periods) override { window_.make_room(periods); }
    double next() const override { return next_; }

  private:
    Summary summary_;
    Window window_;
    double next_ = 0;  ///< kept: a gap may empty the window
};

class AdaptiveWindow final : public Forecaster {
  public:
    AdaptiveWindow(Summary summary, std::size_t least, std::size_t most)
        : summary_(summary), least_(least), window_(most), length_(least) {
        ZBS_EXPECTS(least >= 1);
        ZBS_EXPECTS(least <= most);
    }

    void observe(double value) override {
        if (!gap_ && !window_.values().empty()) learn(value);
        window_.push(value);
        gap_ = false;
        next_ = summary_.of(window_.newest(length_));
    }
    void miss(std::int64_t periods) override {
        window_.make_room(periods);
        gap_ = true;
    }
    double next() const override { return next_; }

  private:
    /// Moves to the neighbouring length that would have predicted `value` better.
    void learn(double value) {
        const std::size_t before = length_;
        double least = std::abs(value - next_);
        const auto try_length = [&](std::size_t length) {
            const double error = std::abs(value - summary_.of(window_.newest(length)));
            if (error < least) least = error, length_ = length;
        };
        if (before > least_) try_length(before - 1);
        if (before < std::min(window_.capacity(), window_.values().size())) try_length(before + 1);
    }

    Summary summary_;
    std::size_t least_;
    Window window_;
    std::size_t length_;
    double next_ = 0;
    bool gap_ = false;
};

class LastValue final : public Forecaster {
  public:
    void observe(double value) override { last_ = value; }
    void miss(std::int64_t) override {}
    double next() const override { return last_; }

  private:
    double last_ = 0;
};

/// Exponential smoothing; with a gain of 0 the mean of all.
class Smoothing final : public Forecaster {
  public:
    explicit Smoothing(double gain) : gain_(gain) { ZBS_EXPECTS(gain >= 0 && gain < 1); }

    void observe(double value) override {
        count_ += 1;
        const double steady = missing_ == 0 ? gain_ : 1 - std::pow(1 - gain_, missing_ + 1);
        smoothed_ += std::max(steady, 1 / count_) * (value - smoothed_);
        missing_ = 0;
    }
    void miss(std::int64_t periods) override { missing_ += static_cast<double>(periods); }
    double next() const override { return smoothed_; }

  private:
    double gain_;
    double count_ = 0, smoothed_ = 0, missing_ = 0;
};

class AdaptiveSmoothing final : public Forecaster {
  public:
    void observe(double value) override {
        if (begun_ && !gap_) {
            const int before = twentieths_;
            double least = std::abs(value - with(before));
            for (const int other : {before - 1, before + 1}) {
                if (other < 1 || other > 19) continue;
                const double error = std::abs(value - with(other));
                if (error < least) least = error, twentieths_ = other;
            }
        }
        smoothed_ = begun_ ? with(twentieths_) : value;
        last_ = value;
        begun_ = true, gap_ = false;
    }
    void miss(std::int64_t) override { gap_ = begun_; }
    double next() const override { return with(twentieths_); }

  private:
    double with(int twentieths) const { return smoothed_ + 0.05 * twentieths * (last_ - smoothed_); }

    double smoothed_ = 0;  ///< without the last value
    double last_ = 0;
    int twentieths_ = 10;  ///< the gain, so that its steps are exact
    bool begun_ = false, gap_ = false;
};

class Autoregression final : public Forecaster {
  public:
    explicit Autoregression(double memory) : least_gain_(1 / memory) { ZBS_EXPECTS(memory >= 2); }

    void observe(double value) override {
        count_ += 1;
        const double gain = std::max(least_gain_, 1 / count_);
        if (count_ == 1) mean_ = value;
        if (count_ > 1 && !gap_) {
            const double before = last_ - mean_;
            variance_ += gain * (before * before - variance_);
            covariance_ += gain * (before * (value - mean_) - covariance_);
        }
        mean_ += gain * (value - mean_);
        last_ = value;
        gap_ = false;
    }
    void miss(std::int64_t) override { gap_ = true; }
    double next() const override {
        const double phi = variance_ > 0 ? std::clamp(covariance_ / variance_, -1.0, 1.0) : 0;
        return mean_ + phi * (last_ - mean_);
    }

  private:
    double least_gain_;
    double count_ = 0, mean_ = 0, last_ = 0;
    double variance_ = 0, covariance_ = 0;  ///< of neighbours, about the mean of that time
    bool gap_ = false;
};

}  // namespace

std::unique_ptr<Forecaster> make_sliding_mean(std::size_t window) {
    return std::make_unique<Sliding>(Summary(Summary::Kind::kMean), window);
}
std::unique_ptr<Forecaster> make_sliding_median(std::size_t window) {
    return std::make_unique<Sliding>(Summary(Summary::Kind::kMedian), window);
}
std::unique_ptr<Forecaster> make_trimmed_mean(std::size_t window, double share) {
    ZBS_EXPECTS(share >= 0 && share < 0.5);
    return std::make_unique<Sliding>(Summary(Summary::Kind::kTrimmed, share), window);
}
std::unique_ptr<Forecaster> make_adaptive_mean(std::size_t least, std::size_t most) {
    return std::make_unique<AdaptiveWindow>(Summary(Summary::Kind::kMean), least, most);
}
std::unique_ptr<Forecaster> make_adaptive_median(std::size_t least, std::size_t most) {
    return std::make_unique<AdaptiveWindow>(Summary(Summary::Kind::kMedian), least, most);
}

std::unique_ptr<Forecaster> make_last_value() { return std::make_unique<LastValue>(); }
std::unique_ptr<Forecaster> make_running_mean() { return std::make_unique<Smoothing>(0.0); }
std::unique_ptr<Forecaster> make_exponential_smoothing(double gain) {
    ZBS_EXPECTS(gain > 0);
    return std::make_unique<Smoothing>(gain);
}
std::unique_ptr<Forecaster> make_adaptive_smoothing() { return std::make_unique<AdaptiveSmoothing>(); }
std::unique_ptr<Forecaster> make_autoregression(double memory) { return std::make_unique<Autoregression>(memory); }

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
