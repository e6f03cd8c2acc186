#pragma once
#include <map>
#include <set>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// Which processors of a zone are promised when. Times are the zone's steady clock; an end is the first instant after.
/// O(promised processors) per question.
class ProcessorCalendar {
  public:
    struct Interval {
        Duration begin{};
        Duration end{};
        bool meets(const Interval& other) const { return begin < other.end && other.begin < end; }
        bool operator==(const Interval&) const = default;
    };
    struct Promise {
        std::vector<std::int32_t> processors;
        Interval when;
        Duration expected_end{};  ///< by experience; at most `when.end`
        std::int32_t share = 0;   ///< as of `WaitingPart`
        Interval taken(bool by_estimate) const { return {when.begin, by_estimate ? expected_end : when.end}; }
        bool operator==(const Promise&) const = default;
    };

    explicit ProcessorCalendar(std::size_t processors) : count_(processors) {}

    std::size_t processors() const { return count_; }
    /// Another promise under the same id takes the place of the first.
    void set(const PartId& id, Promise promise) { promises_.insert_or_assign(id, std::move(promise)); }
    void remove(const PartId& id) { promises_.erase(id); }
    const Promise* find(const PartId& id) const;
    const std::map<PartId, Promise>& promises() const { return promises_; }

    /// By processor: is any of `when` promised to others than `without`? `by_estimate`: ends are the expected ones.
    std::vector<bool> busy(const Interval& when, const std::set<PartId>& without = {}, bool by_estimate = false) const;
    /// The instants from `from` on, sorted, at which the answer for an interval of this length that begins then may
    /// change: `from` is the first.
    std::vector<Duration> changes(Duration from, Duration length, const std::set<PartId>& without = {},
                                  bool by_estimate = false) const;

  private:
    std::size_t count_;
    std::map<PartId, Promise> promises_;
};

}  // namespace zbs
