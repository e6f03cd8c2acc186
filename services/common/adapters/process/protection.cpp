#include "services/common/adapters/process/protection.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "algorithms/base/text.hpp"

namespace zbs::process {
namespace {

Result<std::string> real_folder(const std::string& path) {
    char room[PATH_MAX];
    struct stat info {};
    if (path.empty() || path[0] != '/')
        return Error{ErrorCode::kInvalidArgument,
                     "folder '" + path + "' is to be kept from jobs; give its path from the root, e.g. /etc/zbs",
                     {}};
    if (realpath(path.c_str(), room) == nullptr || stat(room, &info) != 0) {
        return Error{ErrorCode::kUnavailable,
                     "folder " + path + " is to be kept from jobs, but is not there; make it or correct its path",
                     {}};
    }
    if (!S_ISDIR(info.st_mode)) {
        return Error{ErrorCode::kInvalidArgument,
                     path +
                         " is no folder; only folders can be kept from jobs, because a file that is replaced shows "
                         "again: name the folder that holds it",
                     {}};
    }
    if (std::strcmp(room, "/") == 0)
        return Error{ErrorCode::kInvalidArgument, "the root folder cannot be kept from jobs", {}};
    return std::string(room);
}

Result<std::vector<std::string>> real_folders(const std::vector<std::string>& paths) {
    std::vector<std::string> real;
    for (const std::string& path : paths) {
        Result<std::string> folder = real_folder(path);
        if (!folder) return folder.error();
        if (std::find(real.begin(), real.end(), *folder) == real.end()) real.push_back(*std::move(folder));
    }
    return real;
}

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

Result<void> check_hidden_folders(const std::vector<std::string>& paths) {
    const Result<std::vector<std::string>> real = real_folders(paths);
    return real ? Result<void>{} : real.error();
}

Result<std::vector<std::string>> find_hidden_folders(const StepExecutorOptions& options) {
    std::vector<std::string> paths = options.hidden_paths;
    paths.push_back(options.folder);
    // The user's service manager would start a program for a job outside of the job's namespaces.
    const std::string session = "/run/user/" + std::to_string(geteuid());
    if (is_there(session)) paths.push_back(session);
    return real_folders(paths);
}

Result<std::vector<std::string>> find_read_only_folders(const StepExecutorOptions& options) {
    std::vector<std::string> paths = options.read_only_paths;
    const std::size_t slash = options.supervisor.rfind('/');
    const std::string programs = slash == std::string::npos ? "." : options.supervisor.substr(0, slash);
    // A job that could replace them would have its own program started outside of its namespaces. What this service
    // may write says nothing of jobs that somebody else starts.
    if (!options.starter.empty() || access(programs.c_str(), W_OK) == 0 ||
        access(options.supervisor.c_str(), W_OK) == 0) {
        if (programs[0] != '/') {
            return Error{ErrorCode::kInvalidArgument,
                         "the path of the supervisor, " + options.supervisor + ", is not absolute",
                         {}};
        }
        paths.push_back(programs);
    }
    // Whoever owns a control group may kill everything in it.
    if (is_there("/sys/fs/cgroup")) paths.push_back("/sys/fs/cgroup");
    return real_folders(paths);
}

Protection describe_protection(const StepExecutorOptions& options, const HostAbilities& host) {
    const bool processes = !options.shared_memory.value_or(host.is_root);
    const std::string view =
        !host.namespaces_fault.empty()
            ? "jobs see all processes and folders of this host, and programs that they leave behind are looked for by "
              "their parents and environment only (" +
                  host.namespaces_fault + ")"
            : "jobs do not see " +
                  joined(options.hidden_paths.empty() ? std::vector{options.folder} : options.hidden_paths, ", ") +
                  (processes ? " nor any process but their own" : " nor processes of other users");
    if (!host.is_root) {
        const std::string common = "all jobs run as this service's own user " + host.user;
        if (host.namespaces_fault.empty()) {
            return {Isolation::kNamespace, common + ", each in namespaces of its own; " + view +
                                               "; jobs of different users are not kept from each other's other files"};
        }
        return {Isolation::kNone, common + " and can read its keys and database and end it; " + view +
                                      "; run the service as root with an account map, or with user namespaces and "
                                      "without memory shared between steps"};
    }
    if (options.default_account.empty() && options.allow_root_jobs) {
        return {
            Isolation::kNone,
            "jobs without an account run as root, because this service does: they can end it, read its keys through "
            "the host's disks and change any program; " +
                view + "; name a default account, or refuse jobs without one"};
    }
    const std::string others = options.default_account.empty() ? "jobs without one are refused"
                                                               : "jobs without one run as " + options.default_account;
    return {Isolation::kAccounts, "jobs run as the local account of their user; " + others + "; " + view};
}

}  // namespace zbs::process
