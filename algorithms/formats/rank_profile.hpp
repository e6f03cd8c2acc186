#pragma once
#include <span>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::formats {

/// The model of a run from the rank files that its profiling library left (`algorithms/base/profile_layout.hpp`), in
/// any order. Some ranks may be missing: their compute is 0 and what they sent is unknown. `complete` is true only
/// where all ranks are there and all ended by MPI_Finalize. Errors: no file; a file that is damaged, of another version
/// or byte order, or of another run than the first; a rank twice. The pointer is the index of the file, e.g. "/2".
/// O(files x ranks) time, memory O(ranks + pairs).
Result<ApplicationModel> merge_rank_files(std::span<const std::string_view> files);

}  // namespace zbs::formats
