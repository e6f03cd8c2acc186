#pragma once
#include "studies/claims/claim.hpp"
#include "studies/claims/samples.hpp"
#include "studies/models/allocation_simulation.hpp"

// Mesh jobs in a hypercube: the embedding of [Turner1995, chapter 3] and the simulations of chapter 4, free list (FL)
// against free list with auxiliary free list (AFL). Saturation: 1000 jobs that all wait from the start; curves: 400
// jobs a point and seed; the first tenth warms up. Mean service 4 s; 10-cube and exponential service but for figure
// 4.1; FL reserves ceil(log2 X) + ceil(log2 Y) dimensions. The source's curves cannot be read, so claims are about
// relations between them.
namespace zbs::claims {

/// What a workload makes of both allocators under an endless queue.
struct Saturation {
    Samples fl_load, fl_utilization, afl_load, afl_utilization;
};
Saturation saturation(MeshWorkload workload, int dimensions, const Effort& effort);

/// Figure 4.1.
Part turner_constant_workload(const Effort& effort);
/// Figures 4.2 to 4.5.
Part turner_uniform_workloads(const Effort& effort);
/// Figures 4.6 to 4.27: 11 pairs of intervals, 5 shares of small jobs each.
Part turner_interval_workloads(const Effort& effort);

}  // namespace zbs::claims
