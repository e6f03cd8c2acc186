#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/common/messages/node.hpp"

namespace zbs {

/// What a slice column says of one moment.
struct SliceView {
    std::int64_t slice = 0;        ///< turns since the epoch; before it negative
    std::size_t row = 0;           ///< index into `SliceColumn::rows`
    std::vector<StepId> step_ids;  ///< of that row
    Time next{};                   ///< when the next slice begins; later than the moment, by a slice at most
};

/// The same on every node for the same column and moment: rows take turns, and row 0 has the slice that begins with the
/// epoch. Before the epoch the turns are counted backwards, so that a wall clock that was set back stops nothing. None
/// for a column without rows. Where rows have shares, a period of `column.slice` begins with the epoch, and in it each
/// row has its part of it, in their order. Preconditions: `column.slice` > 0, by far more than 64 rows; as many shares
/// as rows, or none.
std::optional<SliceView> find_slice(const SliceColumn& column, Time now);

}  // namespace zbs
