#include "services/zone_scheduler/adapters/slurm/slurm_commands.hpp"

#include <unistd.h>

#include <array>
#include <string_view>

#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/adapters/slurm/answers.hpp"

namespace zbs::slurm {
namespace {

constexpr std::array kCommands = {"sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun"};

/// Words of Slurm (slurm_errno.c; the same in all releases since 20.02), what they are here, and what to do.
struct Known {
    std::string_view words;
    ErrorCode code;
    const char* advice;
};
constexpr std::array kKnown = {
    Known{"Unable to contact slurm controller", ErrorCode::kUnavailable,
          "Slurm's controller (slurmctld) is down: see `scontrol ping`; running jobs go on without it"},
    Known{"Connection refused", ErrorCode::kUnavailable,
          "Slurm's controller (slurmctld) is down: see `scontrol ping`; running jobs go on without it"},
    Known{"Unexpected message received", ErrorCode::kUnavailable,  // scontrol update's way to say the same
          "Slurm's controller (slurmctld) is down: see `scontrol ping`; running jobs go on without it"},
    Known{"Socket timed out", ErrorCode::kTimeout,
          "Slurm's controller (slurmctld) answers too late: it may have done it nevertheless, ask for the operation"},
    Known{"Slurm temporarily unable to accept job", ErrorCode::kUnavailable, "Slurm's queue is full: try again later"},
    Known{"Slurm backup controller in standby mode", ErrorCode::kUnavailable, "Slurm changes controllers: try again"},
    Known{"Munge encode failed", ErrorCode::kUnavailable, "munged does not run on this host: start it"},
    Known{"Invalid authentication credential", ErrorCode::kUnavailable,
          "Slurm does not believe this host: are munged's key and the clocks the same as at the controller?"},
    Known{"Protocol authentication error", ErrorCode::kUnavailable,
          "Slurm does not believe this host: are munged's key and the clocks the same as at the controller?"},
    Known{"cannot stat file", ErrorCode::kUnavailable, "Slurm's configuration file is not where SLURM_CONF says"},
    Known{"Could not establish a configuration source", ErrorCode::kUnavailable,
          "this host has no configuration of Slurm: install slurm.conf or name it"},
    Known{"nvalid partition", ErrorCode::kInvalidArgument, "name one that `sinfo` lists"},
    Known{"Invalid node name", ErrorCode::kInvalidArgument, "name nodes that `sinfo --Node` lists"},
    Known{"Invalid account or account/partition", ErrorCode::kRejected,
          "the user may not charge this account or use this partition: see `sacctmgr show assoc`"},
    Known{"Invalid qos", ErrorCode::kRejected, "the user may not use this quality of service"},
    Known{"Requested node configuration is not available", ErrorCode::kRejected,
          "no nodes of the partition could ever give this: ask for less"},
    Known{"Node count specification invalid", ErrorCode::kRejected, "ask for fewer nodes"},
    Known{"More processors requested than permitted", ErrorCode::kRejected, "ask for fewer processors"},
    Known{"Memory specification can not be satisfied", ErrorCode::kRejected, "ask for less memory"},
    Known{"Requested time limit is invalid", ErrorCode::kRejected, "ask for less time: see MaxTime of the partition"},
    Known{"Requested partition configuration not available", ErrorCode::kRejected,
          "the partition takes no such job: see `scontrol show partition`"},
    Known{"violates accounting/QOS policy", ErrorCode::kRejected, "a limit of the user or account is reached"},
    Known{"Requested nodes are busy", ErrorCode::kRejected,
          "the nodes are promised to others then: ask for another time"},
    Known{"only permitted by root", ErrorCode::kDenied, "run this service as root to submit for other users"},
    Known{"Access/permission denied", ErrorCode::kDenied, "Slurm denies it to the user of this service"},
    Known{"Invalid user id", ErrorCode::kDenied, "Slurm denies it to the user of this service"},
    Known{"User's group not permitted", ErrorCode::kDenied, "Slurm denies the partition to the user's groups"},
    Known{"Invalid job id", ErrorCode::kNotFound, "Slurm does not know the job (any more)"},
    Known{"eservation name not found", ErrorCode::kNotFound, "Slurm does not know the reservation (any more)"},
    Known{"requested reservation is invalid", ErrorCode::kNotFound, "Slurm does not know the reservation (any more)"},
    Known{"Duplicate reservation name", ErrorCode::kConflict, "a reservation of this name exists"},
    Known{"Job/step already completing or completed", ErrorCode::kConflict, "the job has ended"},
    Known{"Node Name unspecified", ErrorCode::kInvalidArgument, "name nodes that `sinfo --Node` lists"},
};

const Known* find_known(std::string_view text) {
    for (const Known& known : kKnown)
        if (text.find(known.words) != std::string_view::npos) return &known;
    return nullptr;
}

}  // namespace

Error explain(const std::string& command, const CommandOutput& output) {
    const std::string& text = output.error.empty() ? output.out : output.error;
    const std::string said = command + ": " +
                             (text.empty() ? "exit code " + std::to_string(output.exit_code)
                                           : printable_text(text.substr(0, text.find_last_not_of('\n') + 1), 400));
    if (const Known* known = find_known(text)) return {known->code, std::string(known->advice) + " (" + said + ")", {}};
    return {ErrorCode::kUnavailable, "Slurm did not do it (" + said + ")", {}};
}

Result<SlurmCommands> SlurmCommands::find(CommandSettings settings) {
    SlurmCommands commands(std::move(settings));
    for (const char* name : kCommands) {
        for (const std::string& folder : commands.settings_.folders) {
            ZBS_EXPECTS(folder.starts_with('/'));
            const std::string path = folder + "/" + name;
            if (access(path.c_str(), X_OK) == 0) {
                commands.paths_[name] = path;
                break;
            }
        }
        if (!commands.paths_.contains(name)) {
            std::string places;
            for (const std::string& folder : commands.settings_.folders)
                places += (places.empty() ? "" : ", ") + folder;
            return Error{ErrorCode::kUnavailable,
                         std::string("no ") + name + " in " + places +
                             ": install Slurm's commands (Debian: slurm-client) or name their folder",
                         {}};
        }
    }
    const Result<std::string> output = commands.run("sinfo", {"--version"});
    if (!output) return output.error();
    const Result<Version> version = parse_version(*output);
    if (!version) return version.error();
    commands.version_ = *version;
    return commands;
}

const std::string& SlurmCommands::path_of(const std::string& command) const {
    const auto found = paths_.find(command);
    ZBS_EXPECTS(found != paths_.end());
    return found->second;
}

Result<std::string> SlurmCommands::run(const std::string& command, std::vector<std::string> arguments,
                                       const std::string& input) const {
    // Nothing of the service's own environment: SQUEUE_FORMAT, SBATCH_PARTITION and their like change what is done.
    Command made{.program = path_of(command),
                 .arguments = std::move(arguments),
                 .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                 {"LC_ALL", "C"},
                                 {"TZ", "UTC"},
                                 {"SLURM_TIME_FORMAT", "%s"}},
                 .input = input,
                 .deadline = settings_.deadline,
                 .max_output = settings_.max_output};
    if (!settings_.configuration.empty()) made.environment.emplace_back("SLURM_CONF", settings_.configuration);
    Result<CommandOutput> output = slurm::run(made);
    if (!output) {
        if (output.error().code != ErrorCode::kTimeout) return output.error();
        // Some failures are tried again for longer than we wait; nothing was done then.
        const Known* known = find_known(output.error().message);
        if (known != nullptr && known->code == ErrorCode::kUnavailable)
            return Error{known->code, std::string(known->advice) + " (" + output.error().message + ")", {}};
        return Error{ErrorCode::kTimeout,
                     "Slurm answers too late: it may have done it nevertheless, ask for the operation (" +
                         output.error().message + ")",
                     {}};
    }
    if (output->exit_code != 0) return explain(command, *output);
    return std::move(output->out);
}

}  // namespace zbs::slurm
