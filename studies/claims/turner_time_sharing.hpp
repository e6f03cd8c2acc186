#pragma once
#include "studies/claims/claim.hpp"

// Chapters 5 and 6 of [Turner1995]: two parallel jobs on the same workstations, and the facility that lets them share.
namespace zbs::claims {

/// The equations of section 5.2 and the calibration: simulated against computed. No seeds: nothing is drawn.
Part turner_time_sharing_model(const Effort& effort);
/// The fifteen figures of section 6.5: five layouts, both kernels, 1 to 6 hosts. No seeds.
Part turner_time_sharing_layouts(const Effort& effort);
/// Allocation, queue, priorities, exit statuses and costs of sections 6.2 to 6.4, over random histories.
Part turner_elmer_decisions(const Effort& effort);

}  // namespace zbs::claims
