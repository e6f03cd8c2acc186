#include "algorithms/forecast/window_forecasters.hpp"

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
    std::vector<double> state() const override {
        std::vector<double> state{next_};
        state.insert(state.end(), window_.values().begin(), window_.values().end());
        return state;
    }
    bool restore(std::span<const double> state) override {
        if (state.empty() || !is_value(state[0]) || !window_.assign(state.subspan(1))) return false;
        next_ = state[0];
        return true;
    }

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
    std::vector<double> state() const override {
        std::vector<double> state{next_, static_cast<double>(length_), gap_ ? 1.0 : 0.0};
        state.insert(state.end(), window_.values().begin(), window_.values().end());
        return state;
    }
    bool restore(std::span<const double> state) override {
        if (state.size() < 3 || !is_value(state[0]) || (state[2] != 0 && state[2] != 1)) return false;
        const double length = state[1];
        if (!(length >= double(least_) && length <= double(window_.capacity()) && length == std::floor(length)))
            return false;
        if (!window_.assign(state.subspan(3))) return false;
        next_ = state[0], length_ = static_cast<std::size_t>(length), gap_ = state[2] == 1;
        return true;
    }

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

}  // namespace zbs::forecast
