#include "services/common/adapters/process/folder_lock.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/process/process_tree.hpp"

namespace zbs::process {
namespace {

/// A killed service may have forked just before: its child has the lock until it executes its program.
constexpr std::chrono::seconds kForkedWithin{2};
constexpr timespec kRest{0, 10'000'000};

}  // namespace

Result<void> check_owner(const std::string& folder) {
    std::error_code fault;
    std::filesystem::path there = std::filesystem::absolute(folder, fault);
    struct stat about {};
    bool exists = stat(there.c_str(), &about) == 0;
    if (!exists && geteuid() != 0) return {};
    const bool begun = exists;
    for (; !exists && there.has_relative_path(); exists = stat(there.c_str(), &about) == 0) there = there.parent_path();
    if (!exists || about.st_uid == geteuid()) return {};
    const std::string owner = user_name(about.st_uid);
    return Error{ErrorCode::kDenied,
                 (begun ? "the state folder belongs" : there.string() + ", where the state folder is to be, belongs") +
                     " to user " + owner + ": run this as that user (runuser -u " + owner + " -- ..., or sudo -u " +
                     owner + "), or the service cannot read what it leaves",
                 folder};
}

Result<void> check_state_folder(const std::string& folder, const std::string& place) {
    struct stat about {};
    std::filesystem::path there = folder;
    const auto is_missing = [&] { return lstat(there.c_str(), &about) != 0 && (errno == ENOENT || errno == ENOTDIR); };
    while (is_missing() && there.has_relative_path()) there = there.parent_path();
    const bool is_there = there == std::filesystem::path(folder);
    const auto refused = [&](ErrorCode code, const std::string& why) {
        return Error{code, "state folder " + folder + " cannot be " + (is_there ? "used" : "made") + ": " + why, place};
    };
    if (stat(there.c_str(), &about) != 0) {
        const int fault = errno;
        return refused(ErrorCode::kUnavailable,
                       there.string() + ": " + std::strerror(fault) + "; correct it, or set 'state' to another folder");
    }
    if (!S_ISDIR(about.st_mode))
        return refused(ErrorCode::kInvalidArgument, there.string() + " is no folder; set 'state' to a folder");
    if (access(there.c_str(), W_OK | X_OK | (is_there ? R_OK : 0)) != 0) {
        const int fault = errno;
        return refused(ErrorCode::kUnavailable, "'" + user_name(geteuid()) + "' may not write " + there.string() +
                                                    ": " + std::strerror(fault) +
                                                    "; give it to that account, or set 'state'");
    }
    return {};
}

Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::string& folder) {
    const std::string path = folder + "/lock";
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return Error{
            ErrorCode::kUnavailable, "state folder " + folder + " cannot be locked: " + std::strerror(errno), {}};
    std::unique_ptr<FolderLock> lock(new FolderLock(fd));
    const auto until = std::chrono::steady_clock::now() + kForkedWithin;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return Error{
                ErrorCode::kUnavailable, "state folder " + folder + " cannot be locked: " + std::strerror(errno), {}};
        // Empty for the moment between the other's flock and its write.
        const int holder = std::atoi(read_file(path).value_or("").c_str());
        const bool has_ended = holder > 0 && kill(holder, 0) != 0 && errno == ESRCH;
        if (!has_ended || std::chrono::steady_clock::now() >= until)
            return Error{ErrorCode::kConflict,
                         "state folder " + folder + " is in use by " +
                             (holder > 0 ? "process " + std::to_string(holder) : "another process"),
                         {}};
        nanosleep(&kRest, nullptr);
    }
    const std::string text = std::to_string(getpid()) + "\n";
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
        return Error{ErrorCode::kUnavailable, path + " cannot be written: " + std::strerror(errno), {}};
    }
    return lock;
}

FolderLock::~FolderLock() { close(fd_); }

}  // namespace zbs::process
