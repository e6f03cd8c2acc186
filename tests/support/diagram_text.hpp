#pragma once
#include <algorithm>
#include <sstream>
#include <string>

#include "algorithms/model/trace_diagram.hpp"

namespace zbs::test {

/// One line a row, slots separated by blanks, '.' for an idle one and '+' after a job that is there as an alternative.
inline std::string text(const TraceDiagram& diagram) {
    std::ostringstream out;
    for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
        for (std::int32_t p = 0; p < diagram.processors(); ++p) {
            const JobId job = diagram.job_at(row, p);
            out << (p == 0 ? "" : " ");
            if (job == kNoJob) {
                out << '.';
                continue;
            }
            const auto entry = std::ranges::find(diagram.entries(row), job, &TraceDiagram::Entry::job);
            out << job << (entry->stay == TraceDiagram::Stay::kAlternative ? "+" : "");
        }
        out << '\n';
    }
    return out.str();
}

}  // namespace zbs::test
