#pragma once
#include "studies/claims/claim.hpp"

namespace zbs::claims {

/// The lookahead example, cell by cell [ShmueliFeitelson2005, section 3]. Exact.
Part shmueli_example(const Effort& effort);
/// What the source says of queue policies, on generated workloads: 128 processors, the Lublin-Feitelson model, run
/// times as estimates [ShmueliFeitelson2005, section 2].
Part shmueli_policies(const Effort& effort);

}  // namespace zbs::claims
