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

/// The Open MPI rankfile of one zone: `rank N=host slot=S` for every rank, numbered from 0 inside the zone and
/// ascending, LF; S is the processor of the host. Start with `mpirun --hostfile FILE -rf RANKFILE`, FILE from
/// write_openmpi_slots. Two ranks on one slot are written as they are; Open MPI then needs the option that allows
/// overload. Errors: a name that Open MPI would misread (port, IPv6); the pointer is the rank.
Result<std::string> write_rankfile(const LaunchZone& zone);

/// The host list of one zone for `SLURM_HOSTFILE=FILE srun -n N --distribution=arbitrary`: the node name of every rank
/// in order, one a line, LF. Slurm wants its own node names, no aliases, inside an allocation that has them all.
/// Errors: a name that Slurm would misread (port, IPv6, no letter or digit first); the pointer is the rank.
Result<std::string> write_slurm_hostfile(const LaunchZone& zone);

/// The Open MPI host file of one zone: `host slots=N` in order of the hosts' first rank, one line a host, LF. Open MPI
/// fills hosts one after the other, so ranks must be consecutive on every host; where a host comes back the order
/// cannot be said, and the error points to a rankfile. Even then Open MPI may begin with the machine it is started on:
/// for an exact order take a rankfile. Errors: a name that Open MPI would misread (port, IPv6); the pointer is the
/// rank.
Result<std::string> write_openmpi_hostfile(const LaunchZone& zone);

/// The same without any promise of order: the host file to start a rankfile with.
Result<std::string> write_openmpi_slots(const LaunchZone& zone);

}  // namespace zbs::formats
