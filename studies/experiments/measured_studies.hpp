#pragma once
#include "studies/claims/claim.hpp"
#include "studies/claims/samples.hpp"

// Claims about time: algorithms have no clock, programs do. Another run gives other figures.
namespace zbs::claims {

/// Time for a request and its release on a 10-cube [Turner1995, chapter 4]. A study that is to be run alone.
Part turner_allocation_time(const Effort& effort);
/// The claim about that time, by microseconds a job, seed by seed.
Claim allocation_time_claim(const Samples& us);

}  // namespace zbs::claims
