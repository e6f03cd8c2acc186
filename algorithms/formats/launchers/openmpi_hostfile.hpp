#pragma once
#include <string>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/launchers/launch_request.hpp"

namespace zbs::formats {

/// The Open MPI host file of one zone: `host slots=N` in order of the hosts' first rank, one line a host, LF. Open MPI
/// fills hosts one after the other, so ranks must be consecutive on every host; where a host comes back the order
/// cannot be said, and the error points to a rankfile. Even then Open MPI may begin with the machine it is started on:
/// for an exact order take a rankfile. Errors: a name that Open MPI would misread (port, IPv6); the pointer is the
/// rank.
Result<std::string> write_openmpi_hostfile(const LaunchZone& zone);

/// The same without any promise of order: the host file to start a rankfile with.
Result<std::string> write_openmpi_slots(const LaunchZone& zone);

}  // namespace zbs::formats
