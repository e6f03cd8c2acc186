#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/ports/steps/step_files.hpp"

namespace zbs {

/// A part as another organisation may see it: machines are "n0", "n1", ... in the order in which its ranks meet them,
/// processors are counted from 0 within each, and the reason names the event, not its place or cause inside of this
/// zone. `asked`: home wanted it stopped. Pure, so the same part always looks the same. O(ranks log ranks).
PartStatus outside_view(PartStatus inside, bool asked);

/// For the reason of a walltime, with ": " before it: that all `ranks` of these steps returned from MPI_Finalize and
/// stayed, or that one of them ran without the zone's library or alone; else empty.
std::string ranks_at_walltime(StepFiles& files, const std::vector<StepId>& steps, std::size_t ranks);

/// The same for a part that is another's and for one that is nowhere.
Error no_such_part(const PartId& id);

/// Where in the depot a part's results lie, and an application's.
std::string results_shelf(const PartId& part);
std::string results_shelf(const ApplicationId& application);

/// The steps of a part's launch, one for each proxy; stable, so that a repeat finds them again.
std::vector<StepId> step_ids(const std::string& operation, const std::vector<int>& proxies);

/// "12 MiB", whole ones.
std::string of_size(std::uint64_t bytes);

}  // namespace zbs
