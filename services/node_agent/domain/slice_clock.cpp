#include "services/node_agent/domain/slice_clock.hpp"

#include <numeric>

#include "algorithms/base/expects.hpp"

namespace zbs {

namespace {

/// From one multiple of `length` to the next; also before zero.
std::int64_t whole(Duration since, Duration length) { return since / length - (since % length < Duration{0} ? 1 : 0); }

/// Within the period, each row's turn in proportion to its share.
SliceView find_share(const SliceColumn& column, Time now) {
    ZBS_EXPECTS(column.shares.size() == column.rows.size());
    const std::int64_t period = whole(now - column.epoch, column.slice);
    const Time begin = column.epoch + period * column.slice;
    const std::int64_t all = std::accumulate(column.shares.begin(), column.shares.end(), std::int64_t{0});
    SliceView view;
    std::int64_t until = 0;  // in shares, of the turn that is looked at
    for (;; ++view.row) {
        until += column.shares[view.row];
        view.next = begin + until * column.slice / all;
        if (view.next > now) break;
    }
    view.slice = period * static_cast<std::int64_t>(column.rows.size()) + static_cast<std::int64_t>(view.row);
    view.step_ids = column.rows[view.row];
    return view;
}

}  // namespace

std::optional<SliceView> find_slice(const SliceColumn& column, Time now) {
    ZBS_EXPECTS(column.slice > Duration{0});
    if (column.rows.empty()) return std::nullopt;
    if (!column.shares.empty()) return find_share(column, now);
    SliceView view;
    view.slice = whole(now - column.epoch, column.slice);
    const auto rows = static_cast<std::int64_t>(column.rows.size());
    view.row = static_cast<std::size_t>((view.slice % rows + rows) % rows);
    view.step_ids = column.rows[view.row];
    view.next = column.epoch + (view.slice + 1) * column.slice;
    return view;
}

}  // namespace zbs
