#pragma once
#include <map>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/adapters/slurm/command.hpp"
#include "services/zone_scheduler/adapters/slurm/site.hpp"

namespace zbs::slurm {

struct CommandSettings {
    /// Where Slurm's commands are looked for, in this order; absolute.
    std::vector<std::string> folders = {"/usr/local/bin", "/usr/bin", "/opt/slurm/bin"};
    std::string configuration;  ///< SLURM_CONF; empty = as Slurm finds it
    /// For one command. Slurm itself waits MessageTimeout (10 s) for its controller.
    Duration deadline = std::chrono::seconds{15};
    std::size_t max_output = limits::kMaxSlurmOutputBytes;
};

/// The commands of one Slurm: sbatch, scancel, scontrol, sinfo, squeue, srun.
class SlurmCommands {
  public:
    /// Finds them and asks for their release. Errors: kUnavailable naming the one that is missing, with its package.
    static Result<SlurmCommands> find(CommandSettings settings);

    const Version& version() const { return version_; }
    const CommandSettings& settings() const { return settings_; }
    /// Absolute.
    const std::string& path_of(const std::string& command) const;

    /// What the command prints. Blocks for up to the deadline. Errors: `explain` of what it said; those of `run`, where
    /// a kTimeout says that Slurm may have done it nevertheless.
    Result<std::string> run(const std::string& command, std::vector<std::string> arguments,
                            const std::string& input = {}) const;

  private:
    explicit SlurmCommands(CommandSettings settings) : settings_(std::move(settings)) {}
    CommandSettings settings_;
    std::map<std::string, std::string> paths_;
    Version version_;
};

/// What a failure of a command of Slurm means and what to do now. Slurm has no codes for it, only words. kTimeout where
/// Slurm may have done what was asked; kUnavailable for what is not known here, with Slurm's words.
Error explain(const std::string& command, const CommandOutput& output);

}  // namespace zbs::slurm
