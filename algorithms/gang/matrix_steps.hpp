#pragma once
#include <cstdint>
#include <span>

#include "algorithms/model/trace_diagram.hpp"

namespace zbs::gang {

/// Whether a job may take up its work on other processors than those where it began (checkpoint and move).
enum class Migration : std::uint8_t { kNone, kAllowed };

/// Takes every job out of the slots where it is not at home. First step at a workload change; the others are
/// compact_matrix, scheduling of the waiting jobs (`GangPacking`) and fill_matrix [ShmueliFeitelson2005].
void clean_matrix(TraceDiagram& diagram);

/// Moves jobs at home in less occupied rows into more occupied ones that have room, the emptiest row and its largest
/// job first, into the fullest row that takes it; without migration only where its own processors are idle. Then
/// erases empty rows; returns how many. Afterwards no further move of that kind exists. Precondition: clean.
std::int32_t compact_matrix(TraceDiagram& diagram, Migration migration);

/// A job at home in a diagram.
struct FillCandidate {
    JobId job;
    std::span<const std::int32_t> processors;  ///< its own ones, ascending
};

/// Puts copies of jobs into idle slots, row by row from the first, in the order of the candidates: one more row of its
/// own, in full, for every job that fits there. Without migration on its own processors only. Afterwards no candidate
/// fits into a row where it is not. O(rows x jobs x processors).
void fill_matrix(TraceDiagram& diagram, std::span<const FillCandidate> candidates, Migration migration);

}  // namespace zbs::gang
