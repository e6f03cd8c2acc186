#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/ports/steps/step_runner.hpp"
#include "services/zone_scheduler/adapters/slurm/allocation.hpp"
#include "services/zone_scheduler/adapters/slurm/slurm_commands.hpp"

namespace zbs::slurm {

/// A program to be run on nodes of an allocation. Its processors are those of the allocation on these nodes: what it
/// starts there is not held to fewer, and steps beside it share them.
struct LaunchSpec {
    StepId step_id;                 ///< also its name in Slurm
    std::vector<std::string> argv;  ///< paths are those of the nodes
    std::vector<std::pair<std::string, std::string>> environment;
    std::string directory;              ///< on the nodes; empty = "/tmp", which every node has
    std::vector<std::string> places;    ///< node of each task, in the tasks' order
    std::string pmi{};                  ///< makes the tasks ranks of one MPI job: "pmi2", "pmix"
    std::string output_folder{};        ///< on the nodes, for out.N and err.N of task N; empty: all through srun
    Duration walltime{};                ///< 0 = as long as the allocation lasts
    Duration grace{};                   ///< from the signal at the walltime to the end
    bool may_share_processors = false;  ///< else no more tasks than processors
    bool is_launcher = false;           ///< as of a StepSpec: the tasks launch the job's programs
};

/// The step that runs it by srun. Any local Executor takes it: srun brings output, exit code (the highest of the
/// tasks') to this host, so nothing is asked of the nodes' file systems. In a stop Slurm sends the tasks SIGTERM, and
/// srun ends all of them after the grace; where this host dies they run on until the allocation is released. Errors:
/// kInvalidArgument; kConflict where the allocation does not run.
Result<StepSpec> make_step(const SlurmCommands& commands, const Allocation& allocation, const LaunchSpec& spec);

/// A step's end for its user, from the allocation as it was after that end and before its release: Slurm may end a
/// step's tasks (walltime, lost node, cancellation) and srun report exit code 0. Then the code is not 0 and the reason
/// explains it; kWalltimeReason begins it where the time was over. None: Slurm is about to end the allocation and will
/// know why; ask again. A step that runs is left as it is.
std::optional<StepStatus> judge_end(StepStatus status, const Allocation& allocation);

}  // namespace zbs::slurm
