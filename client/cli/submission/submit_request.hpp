#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/application.hpp"

namespace zbs::cli {

/// What `zbs run` and `zbs submit` were given.
struct SubmitOptions {
    ApplicationRequest request;  ///< members that options set as they are; `make_request` sets the others
    std::vector<std::string> argv;
    std::string directory, walltime = "1h", model, id, trace, launcher = "auto";
    std::vector<std::string> zones, exports;
    std::string grace = "30s";
    bool export_all = false;
    std::string umask;                   ///< octal; empty: the zone's
    std::vector<std::string> ulimits;    ///< NAME=VALUE
    std::vector<std::string> stage_in;   ///< FILE or FILE=NAME
    std::vector<std::string> stage_out;  ///< names or patterns
    std::string stage = "auto";          ///< or "always"
    std::string results_folder = ".";
    std::string stdout_file, stderr_file;  ///< for the output of the ranks; empty: our own streams
    bool dry_run = false, no_profile = false, ignore_profile = false, quiet = false, wait = false;
};

/// The program as an absolute path: relative ones against `directory`, bare names by PATH, so that a program has one
/// name. Errors: kNotFound, naming what is wrong with it.
Result<std::string> find_program(const std::string& name, const std::string& directory);

/// What launches a program, by the option (auto, mpich, openmpi, srun) and the MPI that it is linked with.
Launcher launcher_for(const std::string& name, bool is_open_mpi);

/// The request for these options, under the id `fresh` unless they name one: program by its absolute path, environment
/// and directory of this command. Errors name
/// the option or argument: program or folder not found, text that is not UTF-8, a duration or model that cannot be
/// read. `paths_to_send` becomes the path of each input, in their order.
Result<ApplicationRequest> make_request(const SubmitOptions& options, const Id128& fresh,
                                        std::vector<std::string>& paths_to_send);

/// Requests whose answer has not come yet: the id is kept before it is sent, so that a repeat cannot run twice.
class PendingFile {
  public:
    PendingFile();
    void add(const std::string& id, const std::string& url, const std::string& program) const;
    void remove(const std::string& id) const;

  private:
    std::filesystem::path path_;
};

}  // namespace zbs::cli
