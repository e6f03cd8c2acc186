#pragma once
#include "studies/claims/claim.hpp"

namespace zbs::claims {

/// Rules that hold or do not, whatever the workload: packing, classifiers, families, waiting, barriers
/// [DaSilva2000, chapters 4 to 8].
Part dasilva_rules(const Effort& effort);

}  // namespace zbs::claims
