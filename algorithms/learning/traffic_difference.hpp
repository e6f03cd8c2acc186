#pragma once
#include "algorithms/model/task_graph.hpp"

namespace zbs::learning {

/// How far the traffic of two graphs is apart, from 0 (the same bytes between the same pairs) to 1 (no pair in common):
/// the sum over all pairs of the difference in bytes, over the bytes of both together. A graph that has all pairs right
/// and every volume f times too large is (f - 1) / (f + 1) apart. O(edges). Precondition: equally many tasks.
double traffic_difference(const TaskGraph& a, const TaskGraph& b);

/// The same after the second has been scaled to the bytes of the first: the pattern without the volume.
double pattern_difference(const TaskGraph& a, const TaskGraph& b);

double total_bytes(const TaskGraph& graph);

}  // namespace zbs::learning
