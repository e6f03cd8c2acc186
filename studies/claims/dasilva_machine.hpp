#pragma once
#include "studies/claims/claim.hpp"

// Runs of the gang machine: tasks that compute, do I/O and communicate, on 8 and 16 processors, at most 10 tasks a
// processor, first fit, slices of 200 ms, switches of 200 us; per seed the same jobs for all schedulers. Horizons are a
// part of the thesis's, smaller where jobs communicate, whose events are two hundred times as many: see the constants.
namespace zbs::claims {

/// I/O and computing, or synchronizing and communicating workloads [DaSilva2000, chapter 6].
Part dasilva_io_and_computing(const Effort& effort);
Part dasilva_communicating(const Effort& effort);
/// Concurrent gang against gang and local scheduling, job set by job set [DaSilva2000, theorem 7].
Part dasilva_theorem7(const Effort& effort);
/// Mixtures with and without runtime information [DaSilva2000, chapter 8].
Part dasilva_mixtures(const Effort& effort);
/// Distributed hierarchical control [DaSilva2000, chapter 8].
Part dasilva_hierarchical_control(const Effort& effort);
/// What every run must keep, under each scheduler.
Part dasilva_audit(const Effort& effort);

}  // namespace zbs::claims
