#pragma once
#include "studies/claims/claim.hpp"

namespace zbs::claims {

/// Meshes in a hypercube [Turner1995, chapter 3]: the worked examples, lemma 2 and theorem 1 by brute force, and random
/// histories of the allocator. All but the histories is exact and the same for every effort.
Part turner_embedding(const Effort& effort);

}  // namespace zbs::claims
