#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace zbs {

/// How much jobs that share all processors slow each other down. A slowdown of 1.2: in a second of its share a job does
/// what it did in 1/1.2 s of it alone; below 1 it gains, because one computes while the other waits.
class CoschedulingModel {
  public:
    /// Jobs do not feel each other.
    CoschedulingModel() = default;
    /// By the number of jobs alone: factors[i] for i + 1 of them, the last for more. Preconditions: not empty, all > 0.
    static CoschedulingModel by_count(std::vector<double> factors);
    /// By the programs, as measured pair by pair [Huang2004, table 5-2]; with two others or more the largest slowdown
    /// of a pair, for which the source has no rule. Unknown programs slow by `unknown`.
    static CoschedulingModel by_application(double unknown = 1.2);

    /// Slowdown of `victim` beside `others`, which are programs (indexes of application_names()) or -1.
    double slowdown(std::int32_t victim, std::span<const std::int32_t> others) const;
    /// The slowdown that the estimator judges a set by: the largest of its members'.
    double worst(std::span<const std::int32_t> programs) const;

    /// The programs of the table: grid-300, grid-1200, grid-2400, central, random, stream.
    static std::span<const std::string_view> application_names();

    bool operator==(const CoschedulingModel&) const = default;

  private:
    std::vector<double> by_count_{1.0};
    bool by_application_ = false;
    double unknown_ = 1;
};

}  // namespace zbs
