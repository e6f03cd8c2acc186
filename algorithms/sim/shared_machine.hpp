#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/model/plan.hpp"

namespace zbs {

/// A machine whose jobs all run at once, each at a rate of its own: seconds of dedicated run time done in a second.
/// Jobs are known by their places in a workload.
///
/// Work is kept in whole microseconds of dedicated run time and rounded once a change of the rates, so ends are exact
/// where rates are 1, and within a microsecond a change else. A change costs O(running jobs); all else O(log jobs).
class SharedMachine {
  public:
    /// A job that needs `runtime` > 0 of dedicated run time. It gets nothing until it has a rate.
    void add(std::uint32_t job, Duration runtime);
    struct Rate {
        std::uint32_t job;
        double rate;  ///< >= 0
    };
    /// All jobs named run at these rates from `now` on, the others not at all.
    void set_rates(Time now, std::span<const Rate> rates);

    /// When the next job ends if the rates stay; kNever where none does.
    Time next_end() const { return ends_.empty() ? kNever : ends_.front().at; }
    /// Takes the job that ends next out; of those that end together the one added first.
    std::uint32_t pop_end();

  private:
    struct Resident {
        std::uint32_t job;
        double left_us;
        double rate = 0;
    };
    struct End {
        Time at;
        std::uint64_t order;
        std::uint32_t job;
        bool operator>(const End& other) const { return at != other.at ? at > other.at : order > other.order; }
    };

    Time synced_{};
    std::vector<Resident> residents_;  ///< in the order of addition
    std::vector<End> ends_;            ///< min-heap
};

}  // namespace zbs
