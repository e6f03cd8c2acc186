#pragma once
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "services/common/adapters/command_line/check.hpp"

/// What `zbs doctor` thinks of what it found. No file, network or process is touched here.
namespace zbs::cli {

using command_line::Check;
using command_line::check_clock;
using command_line::CheckResult;
using command_line::worst_of;

/// `fault` of opening the credentials. One that names its own remedy ("...; run 'chmod 600 key.pem'") keeps it.
Check check_unusable(const Error& fault);
/// `left` of a certificate's life, none for a proxy: fails when over, warns under a day.
Check check_lifetime(std::optional<Duration> left);
/// This machine's clock beside that of the home zone, which is known to `exact` only: warns where they differ by more
/// than 10 s beyond that.
Check check_home_clock(Duration ahead, Duration exact);
/// `said`: what /openapi.json of the home zone gives as its version.
Check check_version(const std::string& said);
/// One check per peer that the home zone knows; a warning where there is none.
std::vector<Check> check_peers(const codec::Json& peerings);
/// The version in what `mpiexec --version` printed: "MPICH (Hydra) 4.0.2", "Open MPI 4.1.4", else its first line.
std::string mpi_version(const std::string& printed);

}  // namespace zbs::cli
