#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "algorithms/model/trace_diagram.hpp"

namespace zbs::gang {

/// Calls `visit(processor)` for the idle processors of a row, ascending, until it returns false.
template <class Visit>
void visit_idle(const TraceDiagram& diagram, std::int32_t row, Visit visit) {
    const auto words = diagram.free_set(row);
    for (std::size_t w = 0; w < words.size(); ++w)
        for (std::uint64_t bits = words[w]; bits != 0; bits &= bits - 1)
            if (!visit(static_cast<std::int32_t>(w * 64) + std::countr_zero(bits))) return;
}

/// The `count` lowest idle processors of a row. Precondition: it has so many.
inline std::vector<std::int32_t> lowest_idle(const TraceDiagram& diagram, std::int32_t row, std::int32_t count) {
    ZBS_EXPECTS(diagram.free_counts()[static_cast<std::size_t>(row)] >= count);
    std::vector<std::int32_t> found;
    found.reserve(static_cast<std::size_t>(count));
    visit_idle(diagram, row, [&](std::int32_t p) {
        found.push_back(p);
        return static_cast<std::int32_t>(found.size()) < count;
    });
    return found;
}

}  // namespace zbs::gang
