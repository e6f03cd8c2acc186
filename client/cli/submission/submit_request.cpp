#include "client/cli/submission/submit_request.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "algorithms/base/text.hpp"
#include "algorithms/base/utf8.hpp"
#include "client/api/staged_files.hpp"
#include "client/cli/context.hpp"
#include "client/cli/input.hpp"
#include "client/cli/submission/job_environment.hpp"
#include "client/cli/submission/probe_program.hpp"
#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/system/absolute_path.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/steps/job_limits.hpp"
#include "services/common/messages/text/printable.hpp"

extern char** environ;

namespace zbs::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> own_environment() {
    std::vector<std::string> own;
    for (char** entry = environ; *entry != nullptr; ++entry) own.emplace_back(*entry);
    return own;
}

/// One command at a time works on the pending file; a file of its own, because the other one is replaced.
class PendingLock {
  public:
    explicit PendingLock(const fs::path& path)
        : fd_(open((path.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        while (fd_ && flock(fd_.get(), LOCK_EX) != 0 && errno == EINTR) {
        }
    }

  private:
    Descriptor fd_;
};

/// "FILE=NAME", unless there is a file of that whole name. The name of "." is empty: its files keep theirs.
std::pair<std::string, std::string> split_staged(const std::string& word) {
    std::error_code fault;
    const std::size_t equals = word.rfind('=');
    const auto without_end = [](std::string path) {
        while (path.size() > 1 && path.ends_with('/')) path.pop_back();
        return path;
    };
    if (equals == std::string::npos || fs::exists(word, fault)) {
        const std::string name = fs::path(without_end(word)).filename().string();
        return {word, name == "." ? std::string{} : name};
    }
    return {word.substr(0, equals), without_end(word.substr(equals + 1))};
}

/// Path and name.
using StagedPaths = std::vector<std::pair<std::string, std::string>>;

/// The file, or the files of a folder and its folders in the order of their names. A link counts as the file that it
/// leads to. Errors: a folder with a link to a folder, or that cannot be read.
Result<void> find_staged(const std::string& path, const std::string& name, StagedPaths& found) {
    std::error_code fault;
    if (!fs::is_directory(path, fault)) {
        if (found.size() >= limits::kMaxStagedInputs)
            return invalid("more than " + std::to_string(limits::kMaxStagedInputs) +
                           " files are to be sent; pack them");
        found.emplace_back(path, name);
        return {};
    }
    std::vector<std::string> entries;
    for (fs::directory_iterator at(path, fault), end; !fault && at != end; at.increment(fault))
        entries.push_back(at->path().filename().string());
    if (fault) return Error{ErrorCode::kNotFound, "cannot read folder " + path + ": " + fault.message(), {}};
    if (entries.empty()) std::cerr << "zbs: folder " << printable(path) << " is empty, and is not sent\n";
    std::ranges::sort(entries);
    for (const std::string& entry : entries) {
        const fs::path at = fs::path(path) / entry;
        if (fs::is_symlink(at, fault) && fs::is_directory(at, fault))
            return invalid(at.string() + " is a link to a folder, which is not followed; name the folder itself");
        if (name.empty() && entry.starts_with('.')) {
            std::cerr << "zbs: " << printable(at.string()) << " is hidden, and is not sent\n";
            continue;
        }
        if (auto below = find_staged(at.string(), name.empty() ? entry : name + "/" + entry, found); !below)
            return below;
    }
    return {};
}

/// As variables of the job, which its ranks heed.
Result<void> set_limits(const SubmitOptions& options, std::map<std::string, std::string>& environment) {
    if (!options.umask.empty()) {
        if (const Result<unsigned> mask = parse_umask(options.umask); !mask)
            return invalid(mask.error().message, "--umask");
        environment[kUmaskVariable] = options.umask;
    }
    const std::string limits = joined(options.ulimits, ",");
    if (const Result<std::vector<JobLimit>> read = parse_job_limits(limits); !read)
        return invalid(read.error().message, "--ulimit");
    if (!limits.empty()) environment[kLimitsVariable] = limits;
    return {};
}

/// Whether no program at all can be run from the file system of `path`, whatever its mode.
bool is_mounted_noexec(const std::string& path) {
    struct statvfs mount {};
    return statvfs(path.c_str(), &mount) == 0 && (mount.f_flag & ST_NOEXEC) != 0;
}

Result<StagedPaths> find_inputs(const SubmitOptions& options) {
    StagedPaths paths;
    for (const std::string& word : options.stage_in) {
        const auto [given, given_name] = split_staged(word);
        const std::size_t before = paths.size();
        if (auto all = find_staged(given, given_name, paths); !all)
            return Error{all.error().code, all.error().message, "--stage-in"};
        if (paths.size() == before) return invalid("folder " + given + " has no file to send", "--stage-in");
    }
    return paths;
}

/// A trace of which nothing could be left. Ranks run on other machines, too, whose folders are unknown here: only one
/// that is relative to this folder has to exist.
Result<void> check_trace(const std::string& prefix) {
    const fs::path path = system::absolute_path(prefix);
    const std::string folder = path.parent_path().string();
    if (access(folder.c_str(), F_OK) != 0 && errno == ENOENT && fs::path(prefix).is_absolute()) return {};
    std::error_code fault;
    if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        return invalid("no trace can be written into " + folder + ": " + std::strerror(errno), "--trace");
    if (!fs::is_directory(folder, fault)) return invalid(folder + " is not a folder", "--trace");
    return {};
}

/// The file that is sent under the name of the program, if no file here has that name; else empty.
std::string program_to_send(const StagedPaths& paths, const std::string& program) {
    std::error_code fault;
    if (program.find('/') == std::string::npos || fs::exists(program, fault)) return {};
    const std::string name = fs::path(program).lexically_normal().string();
    const auto sent = std::ranges::find(paths, name, &StagedPaths::value_type::second);
    return sent == paths.end() ? std::string{} : system::absolute_path(sent->first);
}

Result<Staging> make_staging(const SubmitOptions& options, const std::string& program, const StagedPaths& paths) {
    Staging staging;
    staging.always = options.stage == "always";
    std::set<std::string> names;
    for (const auto& [path, name] : paths) {
        if (const std::string wrong = input_name_fault(name); !wrong.empty())
            return invalid("name '" + printable_text(name, limits::kMaxStagedNameBytes) + "' " + wrong +
                               " (FILE=NAME gives another one)",
                           "--stage-in");
        if (!names.insert(name).second) return invalid("two files are called '" + name + "'", "--stage-in");
        Result<StagedFile> file = client::describe_file(path, name);
        if (!file) return Error{file.error().code, file.error().message, "--stage-in"};
        std::error_code fault;
        if (file->executable && fs::equivalent(path, program, fault)) staging.program = name;
        staging.inputs.push_back(*std::move(file));
    }
    for (const std::string& word : options.stage_out) {
        const std::string pattern =
            (word.starts_with("./") ? word.substr(2) : word) + (word.ends_with('/') ? "**" : "");
        if (const std::string wrong = result_pattern_fault(pattern); !wrong.empty())
            return invalid("'" + printable_text(pattern, limits::kMaxStagedNameBytes) + "' " + wrong, "--stage-out");
        staging.results.push_back(pattern);
    }
    return staging;
}

}  // namespace

Result<std::string> find_program(const std::string& name, const std::string& directory) {
    std::error_code fault;
    if (name.find('/') != std::string::npos) {
        std::string path = system::absolute_path(name, directory);
        const std::string which = "program " + path + " cannot be run: ";
        if (!fs::exists(path, fault))
            return Error{ErrorCode::kNotFound, which + (fault ? fault.message() : "there is no such file"), {}};
        if (fs::is_directory(path, fault)) return Error{ErrorCode::kNotFound, which + "it is a folder", {}};
        if (access(path.c_str(), X_OK) != 0)
            return Error{
                ErrorCode::kNotFound,
                which + (is_mounted_noexec(path) ? "its file system is mounted noexec; copy the program to another one"
                                                 : "it is not executable for you (chmod +x?)"),
                {}};
        return path;
    }
    if (name.empty()) return invalid("the name of the program is empty", {});
    if (const std::string path = path_of(name); !path.empty()) return system::absolute_path(path);
    return Error{
        ErrorCode::kNotFound, "program '" + name + "' is not on PATH; write ./" + name + " for one in this folder", {}};
}

PendingFile::PendingFile() {
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    path_ = (state && *state ? fs::path(state) : fs::path(home && *home ? home : "/tmp") / ".local/state") / "zbs";
    std::error_code fault;
    fs::create_directories(path_, fault);
    path_ /= "pending";
}

void PendingFile::add(const std::string& id, const std::string& url, const std::string& program) const {
    const PendingLock turn(path_);
    const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    const std::string line = id + "\t" + url + "\t" + listing::harmless_line(program) + "\n";
    [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
    fsync(fd);
    close(fd);
}

void PendingFile::remove(const std::string& id) const {
    const PendingLock turn(path_);
    std::ifstream in(path_);
    if (!in) return;
    std::string kept;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(id)) kept += line + "\n";
    }
    process::write_file(path_.string(), kept);
}

Launcher launcher_for(const std::string& name, bool is_open_mpi) {
    if (name == "srun") return is_open_mpi ? Launcher::kSrunPmix : Launcher::kSrunPmi2;
    if (name == "openmpi" || (name == "auto" && is_open_mpi)) return Launcher::kOpenMpi;
    return Launcher::kMpich;
}

/// The reason why ranks of the program would not find each other under this launcher; empty if they would.
std::string why_not_launched(const std::string& program, const LoadedMpi& mpi, Launcher launcher) {
    const auto loads = [&program](const std::string& what) { return ascii(program) + " loads " + what; };
    if (launcher == Launcher::kMpich && !mpi.open_mpi.empty())
        return loads("Open MPI (" + mpi.open_mpi + "), and each of its ranks would run alone; use 'openmpi'");
    if (launcher == Launcher::kOpenMpi && !mpi.mpich.empty())
        return loads("MPICH (" + mpi.mpich + "), and each of its ranks would run alone; use 'mpich'");
    return {};
}

namespace {

/// The folder of the ranks; whether it exists is not checked.
Result<std::string> find_directory(const SubmitOptions& options) {
    if (!options.directory.empty() && (!options.stage_in.empty() || !options.stage_out.empty()))
        return invalid(
            "'" + options.directory +
                "' does not go with --stage-in and --stage-out, whose files are in a folder of the job's own "
                "in each zone, where its ranks run; leave out --chdir, or stage no files",
            "--chdir");
    std::error_code fault;
    std::string directory =
        options.directory.empty() ? fs::current_path(fault).string() : system::absolute_path(options.directory);
    if (directory.empty())
        return Error{ErrorCode::kNotFound, "the folder of this command was removed; change into another one", {}};
    if (!is_utf8(directory)) return invalid("folder '" + ascii(directory) + "' is not UTF-8", "--chdir");
    return directory;
}

Result<void> check_arguments(const SubmitOptions& options) {
    for (std::size_t i = 0; i < options.argv.size(); ++i) {
        if (!is_utf8(options.argv[i]))
            return invalid((i == 0 ? "program '" : "argument " + std::to_string(i) + " '") + ascii(options.argv[i]) +
                               "' is not UTF-8",
                           {});
    }
    std::size_t bytes = 0;
    for (const std::string& word : options.argv) bytes += word.size();
    if (options.argv.size() > limits::kMaxArguments || bytes > limits::kMaxArgumentBytes)
        return invalid("the program has " + std::to_string(options.argv.size() - 1) + " arguments, with its name of " +
                           std::to_string(bytes) + " bytes; at most " + std::to_string(limits::kMaxArguments - 1) +
                           " and " + std::to_string(limits::kMaxArgumentBytes) +
                           " bytes reach the ranks: write them into a file, and pass its name",
                       {});
    return {};
}

/// Chooses what starts the ranks, and returns the libraries from which it follows.
Result<LoadedMpi> set_launcher(const SubmitOptions& options, const std::string& program, ApplicationRequest& request) {
    LoadedMpi mpi = mpi_of_command(program, options.argv, request.directory);
    if (!mpi.mpich.empty() && !mpi.open_mpi.empty())
        return invalid(ascii(program) + " loads two MPIs, " + mpi.mpich + " and " + mpi.open_mpi +
                           "; link it and its libraries with one of them",
                       {});
    request.launcher = launcher_for(options.launcher, !mpi.open_mpi.empty());
    if (const std::string why = why_not_launched(program, mpi, request.launcher); !why.empty())
        return invalid(why, "--launcher");
    if (has_static_mpich(program))
        std::cerr << "zbs: " << printable(program)
                  << " is linked statically with MPICH: it cannot be profiled, and between machines it may hang in "
                     "MPI_Finalize; link it with the shared library\n";
    return mpi;
}

/// Has the profiler write a trace, too.
Result<void> set_trace(const SubmitOptions& options, std::map<std::string, std::string>& environment) {
    if (options.trace.empty()) return {};
    if (options.no_profile) return invalid("a trace is part of the profile, which --no-record turns off", "--trace");
    if (const auto wanted = environment.find("ZBS_PROFILE"); wanted != environment.end() && wanted->second == "0")
        return invalid("a trace is part of the profile, which ZBS_PROFILE=0 turns off", "--trace");
    if (!is_utf8(options.trace)) return invalid("'" + ascii(options.trace) + "' is not UTF-8", "--trace");
    if (const Result<void> good = check_trace(options.trace); !good) return good;
    environment["ZBS_PROFILE_TRACE"] = system::absolute_path(options.trace);
    return {};
}

Result<void> set_environment(const SubmitOptions& options, ApplicationRequest& request) {
    std::vector<std::string> left_out;
    Result<std::map<std::string, std::string>> environment =
        job_environment(own_environment(), options.exports, options.export_all, left_out);
    if (!environment) return environment.error();
    if (!left_out.empty()) {
        std::cerr << "zbs: left out of the environment, because they are not UTF-8 or no names for a shell:";
        for (const std::string& name : left_out) std::cerr << " " << printable(ascii(name));
        std::cerr << "\n";
    }
    if (auto set = set_trace(options, *environment); !set) return set;
    if (auto set = set_limits(options, *environment); !set) return set;
    request.environment.assign(environment->begin(), environment->end());
    return {};
}

Result<void> set_spans(const SubmitOptions& options, ApplicationRequest& request) {
    const Result<Duration> walltime = parse_duration(options.walltime);
    if (!walltime) return Error{ErrorCode::kInvalidArgument, walltime.error().message, "--walltime"};
    request.walltime = *walltime;
    const Result<Duration> grace = parse_duration(options.grace);
    if (!grace) return Error{ErrorCode::kInvalidArgument, grace.error().message, "--grace"};
    request.grace = *grace;
    return {};
}

}  // namespace

Result<ApplicationRequest> make_request(const SubmitOptions& options, const Id128& fresh,
                                        std::vector<std::string>& paths_to_send) {
    ApplicationRequest request = options.request;
    const std::optional<Id128> id = options.id.empty() ? fresh : parse_id128(options.id);
    if (!id) return invalid("'" + options.id + "' is no id (26 characters)", "--id");
    request.id = ApplicationId{*id};
    Result<std::string> directory = find_directory(options);
    if (!directory) return directory.error();
    request.directory = *std::move(directory);
    if (auto good = check_arguments(options); !good) return good.error();
    std::error_code fault;
    if (!fs::is_directory(request.directory, fault))
        return Error{
            ErrorCode::kNotFound,
            request.directory + (fs::exists(request.directory, fault) ? " is not a folder" : " does not exist"),
            "--chdir"};
    Result<StagedPaths> paths = find_inputs(options);
    if (!paths) return paths.error();
    const std::string sent = program_to_send(*paths, options.argv.at(0));
    const Result<std::string> program = find_program(sent.empty() ? options.argv.at(0) : sent, request.directory);
    if (!program) return program.error();
    if (!is_utf8(*program)) return invalid("program '" + ascii(*program) + "' is not UTF-8", {});
    const Result<LoadedMpi> mpi = set_launcher(options, *program, request);
    if (!mpi) return mpi.error();
    request.argv = options.argv;
    request.argv[0] = *program;
    if (auto set = set_environment(options, request); !set) return set.error();
    if (auto set = set_spans(options, request); !set) return set.error();
    if (!options.model.empty()) {
        Result<ApplicationModel> model = read_model_file(options.model);
        if (!model) return model.error();
        request.model = *std::move(model);
    }
    request.zones = to_names<ZoneName>(options.zones);
    request.profile = !options.no_profile && mpi->open_mpi.empty() && can_be_profiled(request.launcher);
    request.use_profile = !options.ignore_profile;
    Result<Staging> staging = make_staging(options, *program, *paths);
    if (!staging) return staging.error();
    for (auto& [path, name] : *paths) paths_to_send.push_back(std::move(path));
    request.staging = *std::move(staging);
    return request;
}

}  // namespace zbs::cli
