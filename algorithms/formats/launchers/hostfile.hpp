#pragma once
#include <span>
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/launchers/launch_request.hpp"

namespace zbs::formats {

/// Letters, digits, '-', '_' and '.', parts of 1..63 characters that do not begin or end with '-', 253 in all. An IPv4
/// address passes; an IPv6 address does not, because launchers split at the colon.
bool is_host_name(std::string_view text);

/// That every rank of the zone has a host for which is_host_name holds; the pointer of the error is the rank.
Result<void> check_host_names(const LaunchZone& zone);

/// The host file that makes MPICH's Hydra put rank r on `host_of_rank[r]`: runs of equal hosts as `host:N`, in order of
/// ranks, LF line ends. A host may come back later; outside a Slurm allocation Hydra then keeps the order. Fails on an
/// empty list or a bad name; the pointer is the rank.
Result<std::string> write_hydra_hostfile(std::span<const std::string> host_of_rank);

/// The same for the ranks of one zone of a launch.
Result<std::string> write_hydra_hostfile(const LaunchZone& zone);

/// Whether a host comes back after another one: such a file does not work inside a Slurm allocation (mpich issue 1575).
bool has_returning_host(std::span<const std::string> host_of_rank);

/// The first host of the zone whose name has a domain; empty where none has. Open MPI cuts such a name at its first dot
/// (without its option orte_keep_fqdn_hostnames) and takes worker.1.site and worker.2.site for one host. Addresses are
/// not cut.
std::string find_dotted_host(const LaunchZone& zone);

}  // namespace zbs::formats
