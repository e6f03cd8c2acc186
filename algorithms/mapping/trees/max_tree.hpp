#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace zbs {

/// Values >= 0 with their maximum at hand: changing one takes O(log count), reading the maximum O(1).
class MaxTree {
  public:
    explicit MaxTree(std::size_t count) {
        while (leaves_ < count) leaves_ *= 2;
        nodes_.assign(2 * leaves_, 0);
    }
    double operator[](std::size_t i) const { return nodes_[leaves_ + i]; }
    double max() const { return nodes_[1]; }
    /// The first index that holds the maximum. O(log count).
    std::size_t argmax() const {
        std::size_t at = 1;
        while (at < leaves_) at = nodes_[2 * at] == nodes_[at] ? 2 * at : 2 * at + 1;
        return at - leaves_;
    }
    void set(std::size_t i, double value) {
        std::size_t at = leaves_ + i;
        nodes_[at] = value;
        while (at > 1) {
            at /= 2;
            const double larger = std::max(nodes_[2 * at], nodes_[2 * at + 1]);
            if (nodes_[at] == larger) return;
            nodes_[at] = larger;
        }
    }
    /// How many values are at least `threshold` > 0. O(answer x log count).
    std::size_t count_at_least(double threshold) const { return count_below(1, threshold); }

  private:
    std::size_t count_below(std::size_t at, double threshold) const {
        if (nodes_[at] < threshold) return 0;
        return at >= leaves_ ? 1 : count_below(2 * at, threshold) + count_below(2 * at + 1, threshold);
    }
    std::size_t leaves_ = 1;
    std::vector<double> nodes_;
};

/// Values >= 0 with their sum at hand, exact to the last places however large values came and went before. O(log
/// count).
class SumTree {
  public:
    explicit SumTree(std::size_t count) {
        while (leaves_ < count) leaves_ *= 2;
        nodes_.assign(2 * leaves_, 0);
    }
    double sum() const { return nodes_[1]; }
    void set(std::size_t i, double value) {
        std::size_t at = leaves_ + i;
        nodes_[at] = value;
        while ((at /= 2) > 0) nodes_[at] = nodes_[2 * at] + nodes_[2 * at + 1];
    }

  private:
    std::size_t leaves_ = 1;
    std::vector<double> nodes_;
};

/// Of loads >= 0: near the largest, but falls with any large one. (Sum of eighth powers)^(1/8).
class SmoothMax {
  public:
    explicit SmoothMax(std::size_t count) : powers_(count) {}
    void set(std::size_t i, double load) {
        const double square = load * load, fourth = square * square;
        powers_.set(i, fourth * fourth);
    }
    double value() const { return std::sqrt(std::sqrt(std::sqrt(powers_.sum()))); }

  private:
    SumTree powers_;
};

}  // namespace zbs
