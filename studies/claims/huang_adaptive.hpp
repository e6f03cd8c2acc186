#pragma once
#include "studies/claims/claim.hpp"

// Adaptive SCOJO [Huang2004, chapters 6 and 7]: what can be computed, and the printed results of all strategies, which
// run on the same workload for each seed.
namespace zbs::claims {

Part huang_adaptive_exact(const Effort& effort);         ///< T2 to T8, T25
Part huang_adaptive_levels_1(const Effort& effort);      ///< workload 1: figure 7-1
Part huang_adaptive_strategies_1(const Effort& effort);  ///< workload 1: figures 7-2 to 7-7
Part huang_adaptive_workload_2(const Effort& effort);    ///< workload 2: all of these

/// "adaptive.csv": FCFS, PRI-B and PRI-B-WA-FA on the first workload of each kind, as long as `effort` says.
File huang_adaptive_table(const Effort& effort);

}  // namespace zbs::claims
