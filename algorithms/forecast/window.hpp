#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zbs::forecast {

/// The newest values of a series, oldest first, at most `capacity` of them.
class Window {
  public:
    explicit Window(std::size_t capacity);

    /// Puts `value` last; where the window is full the oldest goes. O(window).
    void push(double value);
    /// Drops what will be as old as the window is long when a value comes after `periods` missing ones. What is missing
    /// is not remembered: the window fills up again with what comes. Precondition: periods >= 0.
    void make_room(std::int64_t periods);

    std::size_t capacity() const { return capacity_; }
    std::span<const double> values() const { return values_; }
    /// The newest `count`, or all where there are fewer.
    std::span<const double> newest(std::size_t count) const;

  private:
    std::size_t capacity_;
    std::vector<double> values_;
};

/// Mean of `values`, exact where all are equal. Precondition: not empty.
double mean(std::span<const double> values);
/// Middle of `values`, of an even number the mean of both in the middle. Precondition: not empty. O(values).
double median(std::span<const double> values);
/// Mean without the floor(share x count) least and as many greatest. Precondition: not empty, 0 <= share < 0.5.
/// O(values log values).
double trimmed_mean(std::span<const double> values, double share);

/// Whether `value` may stand in a series: a number, of magnitude at most kMaxValue.
bool is_value(double value);

}  // namespace zbs::forecast
