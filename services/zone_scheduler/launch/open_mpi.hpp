#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/steps/rank_end.hpp"
#include "services/zone_scheduler/launch/mpich.hpp"

/// Starting programs of Open MPI on machines that take no ssh: `mpirun` has a remote-shell agent of ours, which records
/// the host and the command of each request and runs nothing. The zone starts these daemons (`orted`), one on each
/// machine. Ranks lie where the rankfile places them. Pure text work. Tried with Open MPI 4.1.4.
namespace zbs::open_mpi {

using mpich::Options;
using mpich::ZoneMachine;

/// Files in the launcher's working directory.
inline constexpr const char* kHostFile = "hosts";
inline constexpr const char* kRankFile = "ranks";
inline constexpr const char* kAgentFile = "agent";
/// Where the agent writes the commands, a line each.
inline constexpr const char* kCommandFile = "daemons";
/// Names the folder for the output of each rank (`own_files::kOut`): what mpirun itself passes on of a rank's output is
/// cut where it is tagged, and mixed where it is not.
inline constexpr const char* kOutputVariable = "ZBS_OUTPUT";

/// The machines in the order of their first ranks: daemon i is that of the i-th. O(ranks x log machines).
std::vector<ZoneMachine> plan_daemons(const std::vector<ZoneMachine>& place_of_rank);
/// "zbs0 slots=2": daemon 0 has two ranks. mpirun knows machines by these names only.
std::string host_file(const std::vector<ZoneMachine>& place_of_rank);
/// "rank 0=zbs1 slot=*": of the daemon's processors, any.
std::string rank_file(const std::vector<ZoneMachine>& place_of_rank);
std::string agent_script();

/// `spec.mpiexec` is mpirun.
std::vector<std::string> launcher_argv(const mpich::CoordinatorSpec& spec);
/// What mpirun itself runs with: the ranks' environment without what belongs to a job of Open MPI around this one or
/// would steer its daemons; variables that are not Open MPI's as `mpich::carried_environment`. Whether root may run
/// jobs was the operator's to say, so mpirun does not ask again.
Options launcher_environment(const Options& environment);

/// What the agent has written so far; done once all of `daemons` are there. Errors: a line that is no command of a
/// daemon, or one of another than it should be.
Result<mpich::LaunchLines> read_launch_lines(std::string_view text, std::size_t daemons);

/// The command of daemon `id`, rebuilt from known options only. Errors name the option.
Result<std::vector<std::string>> daemon_argv(const std::string& program, const Options& options, int id);
/// The environment of a daemon. `output`: folder for the ranks' output. `own`: folder for the daemon's session and for
/// the shared memory of its ranks; if empty, Open MPI uses /tmp and /dev/shm, where daemons of one job on one host
/// would use the same names.
Options daemon_environment(const std::string& output, const std::string& own);

/// The rank that mpirun's error output names as the first that failed; -1 where it names none.
int read_first_rank(std::string_view text);
/// A rank that called MPI_Abort, or that left before MPI_Finalize with code 0, as mpirun reports them; else none. Its
/// number is that in MPI_COMM_WORLD; no other one is read.
std::optional<RankEnd> read_improper_end(std::string_view text);
/// The signal that ended a rank, where mpirun's error output says so; 0 where it does not.
int read_fatal_signal(std::string_view text);

}  // namespace zbs::open_mpi
