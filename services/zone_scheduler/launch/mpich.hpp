#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/part.hpp"

/// The command lines of MPICH's process manager (Hydra) with `-launcher manual`: mpiexec prints one proxy command per
/// run of consecutive ranks on one host and waits; the zone starts the proxies. Pure text work. Tried with MPICH 4.0.2.
namespace zbs::mpich {

using Options = std::vector<std::pair<std::string, std::string>>;

struct CoordinatorSpec {
    std::string mpiexec;
    std::string interface;
    std::string directory;
    int ranks = 1;
    std::vector<std::string> argv;
    /// Ranks begin in the folder that their zone names (kStagedFolder), where it names one.
    bool is_staged = false;
    bool share_processors = false;  ///< ranks do
    std::string staged_program{};   ///< what they run there, in place of the first of `argv`; empty: that
    Options environment{};          ///< of the program: `program_environment` or `rank_environment`
};
/// The variable in which a zone names the folder of staged files.
inline constexpr const char* kStagedFolder = "ZBS_STAGED";
/// Files in the coordinator's working directory.
inline constexpr const char* kHostFile = "hosts";
/// Where and as what each rank begins; the rest of the way, into the folder of staged files, it goes by itself.
std::string start_directory(const CoordinatorSpec& spec);
std::vector<std::string> rank_argv(const CoordinatorSpec& spec);
/// The same for a launcher that starts ranks in `/`: each enters its folder, under the supervisor of ranks.
std::vector<std::string> watched_argv(const CoordinatorSpec& spec);
/// The variables of the program as a launcher passes them on to the ranks: it does not run with them itself.
Options carried_environment(const Options& environment);
std::vector<std::string> coordinator_argv(const CoordinatorSpec& spec);

/// The user's environment without what would steer the launcher (HYDRA_*, MPIEXEC_*, PMI_* ...) or belongs to a job
/// around this one (ZBS_STEP_*, ZBS_ZONE, ...): a job submitted from inside a job must not be taken for a part of it.
Options program_environment(const Options& environment);
/// The same for ranks of MPICH. MPICH 4.0.2 computes wrong numbers among ranks of one host (docs/numbers.md), so each
/// rank is a host of its own for it (MPIR_CVAR_NOLOCAL=1), unless the user sets that variable.
Options rank_environment(const Options& environment);

/// A proxy of the job: the ranks it starts and where.
struct ProxyPlan {
    int id = 0;
    ZoneName zone;
    MachineName machine;
    TaskIndex begin = 0, end = 0;  ///< half-open range of ranks
    bool operator==(const ProxyPlan&) const = default;
};
struct ZoneMachine {
    ZoneName zone;
    MachineName machine;
    bool operator==(const ZoneMachine&) const = default;
};
/// One proxy per run of consecutive ranks on one machine, numbered from 0: the order in which Hydra numbers them.
std::vector<ProxyPlan> plan_proxies(const std::vector<ZoneMachine>& place_of_rank);
/// Text of the host file: "zone.machine:count" per proxy.
std::string host_file(const std::vector<ProxyPlan>& proxies);

/// What mpiexec has printed so far. `done` once all proxy commands are there.
struct LaunchLines {
    bool done = false;
    Options options;  ///< common to all proxies, without the id
    int proxies = 0;
};
/// Errors: a command line with a word that is no known option of a proxy.
Result<LaunchLines> read_launch_lines(std::string_view text);

/// The signal that ended a rank, where mpiexec's report names it ("... (signal 9)"); 0 where it does not. mpiexec's own
/// exit code does not distinguish signal 9 from exit code 9.
int read_fatal_signal(std::string_view text);
/// ZONE.MACHINE, as in the host file, of the rank of that report; empty where there is none.
std::string read_fatal_place(std::string_view text);

/// Whether mpiexec gave up because a proxy's connection ended before that had said how its ranks ended, by what it
/// wrote to its error output (MPICH 4.0: "control_cb ... assert (!closed) failed"; of a machine that does not answer
/// any more "control_cb ... unable to read command from proxy"). It happens now and then where ranks die at the same
/// time; those are on record then. Its exit code, 255, and those of proxies that are left, 7, have nothing to do with
/// the program.
bool lost_a_proxy(std::string_view text);
/// The error output of mpiexec without lines about Hydra itself ("[mpiexec@", "[proxy:"): the application's reason
/// replaces them. Of a text that grows, the result grows only at its end.
std::string without_own_lines(std::string_view text);
/// The sentence of the first of those lines, without host, function and place in Hydra's source; empty if none has one.
std::string own_fault(std::string_view text);

/// The command of one proxy, rebuilt from known options only: `options` come from another organisation. Errors name the
/// option.
Result<std::vector<std::string>> proxy_argv(const std::string& program, const Options& options, int id);

/// The host that proxies would connect to: of the option `control-port`, HOST:PORT. Errors: none, or not of that form.
Result<std::string> coordinator_host(const Options& options);

}  // namespace zbs::mpich
