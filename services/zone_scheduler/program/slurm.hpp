#pragma once
#include <functional>
#include <memory>

#include "services/common/ports/allocations.hpp"
#include "services/zone_scheduler/config/zone_config_file.hpp"

namespace zbs::zone_program {

/// Where the settings name a Slurm: asks it for the machines of the zone, which are its nodes from then on, and gives
/// what asks it for processors; null where they name none. Errors: no commands, a Slurm that does not answer, no such
/// partition.
Result<std::unique_ptr<Allocations>> open_slurm(ZoneSettings& settings,
                                                std::function<void(std::function<void()>)> post);

/// Whether the commands are there that `open_slurm` needs; asks no Slurm. Success where the settings name none.
Result<void> check_slurm_commands(const ZoneSettings& settings);

}  // namespace zbs::zone_program
