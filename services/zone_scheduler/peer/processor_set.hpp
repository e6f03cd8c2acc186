#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "algorithms/base/expects.hpp"

namespace zbs {

/// A set of processors of a zone, out of all rows of its slice matrix. Each row has every processor of the zone once;
/// the numbers of a row follow those of the row before.
class ProcessorSet {
  public:
    /// The processors of one machine, as numbers within a row.
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };

    /// `members`: by processor. Precondition: whole rows of `row_size` processors, which is above 0.
    ProcessorSet(std::vector<bool> members, std::size_t row_size) : members_(std::move(members)), row_size_(row_size) {
        ZBS_EXPECTS(row_size_ > 0 && members_.size() % row_size_ == 0);
    }

    /// By processor, as calendars and queues take it.
    const std::vector<bool>& members() const { return members_; }
    bool contains(std::size_t processor) const { return members_[processor]; }
    void insert(std::size_t processor) { members_[processor] = true; }
    void remove(std::size_t processor) { members_[processor] = false; }
    void clear() { members_.assign(members_.size(), false); }

    std::size_t count() const { return count_between(0, members_.size()); }
    std::size_t count(std::size_t row) const { return count(row, {0, row_size_}); }
    std::size_t count(std::size_t row, Range machine) const {
        return count_between(row * row_size_ + machine.begin, row * row_size_ + machine.end);
    }

    /// Precondition: `others` has as many rows of the same size.
    ProcessorSet without(const ProcessorSet& others) const {
        ZBS_EXPECTS(others.row_size_ == row_size_ && others.members_.size() == members_.size());
        ProcessorSet left = *this;
        for (std::size_t p = 0; p < members_.size(); ++p)
            if (others.contains(p)) left.remove(p);
        return left;
    }
    /// The processors that are in the set in at least one row, as a set of one row.
    ProcessorSet in_any_row() const {
        ProcessorSet all({members_.begin(), at(row_size_)}, row_size_);
        for (std::size_t p = row_size_; p < members_.size(); ++p)
            if (members_[p]) all.insert(p % row_size_);
        return all;
    }

  private:
    std::vector<bool>::const_iterator at(std::size_t processor) const {
        return members_.begin() + static_cast<std::ptrdiff_t>(processor);
    }
    std::size_t count_between(std::size_t begin, std::size_t end) const {
        return static_cast<std::size_t>(std::count(at(begin), at(end), true));
    }
    std::vector<bool> members_;
    std::size_t row_size_;
};

}  // namespace zbs
