#include "services/node_agent/domain/slice_clock.hpp"

#include "algorithms/base/expects.hpp"

namespace zbs {

std::optional<SliceView> find_slice(const SliceColumn& column, Time now) {
    ZBS_EXPECTS(column.slice > Duration{0});
    if (column.rows.empty()) return std::nullopt;
    SliceView view;
    const Duration since = now - column.epoch;
    view.slice = since / column.slice - (since % column.slice < Duration{0} ? 1 : 0);
    const auto rows = static_cast<std::int64_t>(column.rows.size());
    view.row = static_cast<std::size_t>((view.slice % rows + rows) % rows);
    view.operations = column.rows[view.row];
    view.next = column.epoch + (view.slice + 1) * column.slice;
    return view;
}

}  // namespace zbs
