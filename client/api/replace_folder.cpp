#include "client/api/replace_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace zbs::client {
namespace fs = std::filesystem;
namespace {

std::string old_of(const std::string& folder) { return folder + ".old"; }

/// The earlier files are in the folder that it returns.
Result<std::string> put_in_place(const std::string& fresh, const std::string& folder) {
    std::error_code fault, ignored;
    const auto failed = [&](const std::error_code& why) {
        return Error{ErrorCode::kUnavailable, "cannot put the new files in place: " + why.message(), folder};
    };
    if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) return fresh;
    const std::error_code exchange(errno, std::generic_category());
    const bool there = fs::exists(folder, ignored);
    if (there && exchange != std::errc::invalid_argument && exchange != std::errc::function_not_supported)
        return failed(exchange);
    if (there) {
        fs::remove_all(old_of(folder), ignored);  // else the rename fails and names the reason
        fs::rename(folder, old_of(folder), fault);
    }
    if (!fault) {
        fs::rename(fresh, folder, fault);
        if (fault && there) fs::rename(old_of(folder), folder, ignored);
    }
    if (fault) return failed(fault);
    return old_of(folder);
}

}  // namespace

Result<void> replace_folder(const std::string& fresh, const std::string& folder) {
    const Result<std::string> placed = put_in_place(fresh, folder);
    if (!placed) return placed.error();
    for (const std::string& earlier : {*placed, old_of(folder)}) {
        std::error_code fault;
        fs::remove_all(earlier, fault);
        if (fault) {
            return Error{ErrorCode::kUnavailable,
                         "the new files are in place, but the earlier ones are still here (" + fault.message() +
                             "); remove this folder",
                         earlier};
        }
    }
    return {};
}

Result<bool> recover_folder(const std::string& folder) {
    std::error_code fault;
    if (fs::exists(folder, fault) || !fs::exists(old_of(folder), fault)) return false;
    const Result<Descriptor> lock = lock_folder(folder, LockWait::kUntilFree);
    if (!lock) return lock.error();
    if (fs::exists(folder, fault)) return true;  // by the process that had the lock
    fs::rename(old_of(folder), folder, fault);
    if (fault)
        return Error{ErrorCode::kUnavailable,
                     "a replacement was cut short, and the earlier files cannot return: " + fault.message(),
                     old_of(folder)};
    return true;
}

Result<Descriptor> lock_folder(const std::string& folder, LockWait wait) {
    const std::string path = folder + ".lock";
    Descriptor lock(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    const int how = LOCK_EX | (wait == LockWait::kNo ? LOCK_NB : 0);
    while (lock && flock(lock.get(), how) != 0) {
        if (errno == EINTR) continue;
        if (errno == EWOULDBLOCK) return Descriptor();
        return Error{ErrorCode::kUnavailable, "cannot be locked: " + std::generic_category().message(errno), path};
    }
    if (lock) return lock;
    return Error{ErrorCode::kUnavailable, "cannot be opened: " + std::generic_category().message(errno), path};
}

}  // namespace zbs::client
