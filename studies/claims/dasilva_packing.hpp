#pragma once
#include "studies/claims/claim.hpp"

namespace zbs::claims {

/// Sets of jobs that are there from the start: theorem 4 and simple gang [DaSilva2000, chapter 4].
Part dasilva_static_sets(const Effort& effort);
/// Packing 30,000 arrivals into slices of 128 processors; jobs stay for their run time [DaSilva2000, chapter 5].
Part dasilva_packing(const Effort& effort);
/// Memory fit; jobs advance one slice a period [DaSilva2000, section 5.4].
Part dasilva_memory(const Effort& effort);

}  // namespace zbs::claims
