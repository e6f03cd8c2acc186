#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/launchers/launch_request.hpp"

namespace zbs::formats {

/// The Open MPI rankfile of one zone: `rank N=host slot=S` for every rank, numbered from 0 inside the zone and
/// ascending, LF; S is the processor of the host. Start with `mpirun --hostfile FILE -rf RANKFILE`, FILE from
/// write_openmpi_slots. Two ranks on one slot are written as they are; Open MPI then needs the option that allows
/// overload. Errors: a name that Open MPI would misread (port, IPv6); the pointer is the rank.
Result<std::string> write_rankfile(const LaunchZone& zone);

}  // namespace zbs::formats
