#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/application.hpp"
#include "services/common/ports/steps/step_runner.hpp"
#include "services/zone_scheduler/launch/mpich.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

/// What home does for an application, by what launches it. Placed applications only: every rank has its place.
namespace zbs {

/// A process that a zone starts for the launcher: a proxy of MPICH's, a daemon of Open MPI's, srun itself.
struct LaunchProxy {
    int id = 0;
    ZoneName zone;
    MachineName machine;
    bool operator==(const LaunchProxy&) const = default;
};
std::vector<LaunchProxy> launch_proxies(const Application& application);

/// Why this home cannot launch so; empty where it can.
std::string why_no_launcher(const ZoneConfig& config, Launcher launcher);

/// The step whose end is that of the application: the launcher at home or, for srun, the zone's own step.
StepId launcher_step_id(const Application& application);
/// From the end of a part's grace to that of its processes, as its zone reports it. The launcher outlives both: ranks
/// end with it.
inline constexpr Duration kEndSlack = std::chrono::seconds{10};
/// The launcher at home; not for srun, which needs none. Without account.
StepSpec launcher_step(const ZoneConfig& config, const Application& application);
/// What every rank runs where no launcher at home says so (srun).
LaunchRequest::Program program_of_ranks(const ApplicationRequest& request);
/// File of that step in which it asks for its proxies, and what it has asked for so far.
std::string launcher_commands(Launcher launcher);
Result<mpich::LaunchLines> read_launcher(const Application& application, std::string_view text);

/// What a zone runs for one of them: proxy, daemon or, under srun, the program itself. Errors name the option.
Result<std::vector<std::string>> proxy_command(const ZoneConfig& config, const LaunchRequest& request, int id);

/// The step in whose folder a rank's output lies.
StepId output_step(const Application& application, int rank);
/// All of these.
std::vector<StepId> output_steps(const Application& application);

/// ZONE.MACHINE of a rank, as its zone names the machine.
std::string place_of_rank(const Application& application, TaskIndex rank);
/// Of the ranks whose zones know that they did not end well the one that is why the others ended.
std::optional<RankEnd> first_end(const Application& application);

/// How the ranks ended, by what their launcher wrote.
struct RanksEnd {
    int exit_code = 0;    ///< of the first that failed where the launcher says so, else the launcher's own
    int signal = 0;       ///< that ended a rank; 0 where it does not say
    TaskIndex rank = -1;  ///< which one; -1 where it does not say
    /// How that rank ended, if no signal ended it.
    RankEndKind how = RankEndKind::kExited;
    bool before_finalize = false;  ///< it left so
    std::string place;             ///< ZONE.MACHINE of the rank that a signal ended; empty where it does not say
    bool operator==(const RanksEnd&) const = default;
};
RanksEnd read_end(Launcher launcher, int exit_code, std::string_view out, std::string_view err);

/// The line with which the dynamic loader reports that a program cannot begin, because a library is missing or is not
/// the right one; fit for one line of a terminal. It names the program and the library. `errors`: what a rank wrote to
/// its error output. Empty if there is no such line.
std::string loader_fault(std::string_view errors);
/// Whether such a line is about `program`, and not about one that it runs.
bool is_loader_fault_of(std::string_view program, std::string_view line);

}  // namespace zbs
