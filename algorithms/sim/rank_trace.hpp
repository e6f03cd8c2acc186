#pragma once
#include <span>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/model/trace.hpp"

namespace zbs {

/// The execution trace of a run from the trace files of its ranks (`algorithms/base/trace_layout.hpp`), in any order.
/// A rank records of a collective only what it sends; what it receives is known here, from the others. Where a rank's
/// file is missing, was cut short, does not end by MPI_Finalize or names calls whose messages are missing, the trace is
/// not complete. Errors: no file; a file
/// that is damaged, of another version or byte order, or of another run than the first; a rank twice. The pointer is
/// the index of the file, e.g. "/2". O(records log records).
Result<Trace> merge_rank_traces(std::span<const std::string_view> files);

}  // namespace zbs
