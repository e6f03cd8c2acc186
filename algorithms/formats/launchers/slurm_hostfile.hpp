#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/launchers/launch_request.hpp"

namespace zbs::formats {

/// The host list of one zone for `SLURM_HOSTFILE=FILE srun -n N --distribution=arbitrary`: the node name of every rank
/// in order, one a line, LF. Slurm wants its own node names, no aliases, inside an allocation that has them all.
/// Errors: a name that Slurm would misread (port, IPv6, no letter or digit first); the pointer is the rank.
Result<std::string> write_slurm_hostfile(const LaunchZone& zone);

}  // namespace zbs::formats
