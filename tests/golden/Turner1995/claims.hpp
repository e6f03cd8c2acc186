#pragma once
#include <string>
#include <utility>
#include <vector>

#include "algorithms/sim/allocation_simulation.hpp"

// The simulations of [Turner1995, chapter 4], claim by claim: published, ours, and how far the two agree. All that is
// written is a function of the seeds.
namespace zbs::turner {

/// How much is simulated.
struct Effort {
    int seeds = 10;
    std::int64_t saturated_jobs = 1000;  ///< of an endless queue
    std::int64_t loaded_jobs = 400;      ///< for each point of a curve
};

/// One value a seed.
using Samples = std::vector<double>;
double mean(const Samples& samples);
double deviation(const Samples& samples);  ///< of the sample; 0 for one

/// What a workload makes of both allocators under an endless queue: free list (FL) and with the auxiliary one (AFL).
struct Saturation {
    Samples fl_load, fl_utilization, afl_load, afl_utilization;
};
Saturation saturation(MeshWorkload workload, int dimensions, const Effort& effort);

struct Claim {
    std::string id, source, claim, published, ours, spread, verdict, reason;
};
struct File {
    std::string name, text;
};
/// A part that is made by itself: its tables and plots, and its claims.
struct Part {
    std::vector<Claim> claims;
    std::vector<File> files;
};

/// Figure 4.1: cheap enough to be made anew by a test.
Part constant_workload(const Effort& effort);
/// Figures 4.2 to 4.5.
Part uniform_workloads(const Effort& effort);
/// Figures 4.6 to 4.27: 11 pairs of intervals, 5 shares of small jobs each.
Part interval_workloads(const Effort& effort);

/// README.md of the folder.
std::string page_of(const std::vector<Part>& parts, const Effort& effort);

}  // namespace zbs::turner
