#include "services/common/adapters/openssl/secure_files.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "services/common/adapters/descriptor/descriptor.hpp"

namespace zbs::openssl {
namespace {
namespace fs = std::filesystem;

Error disk_fault(const std::string& what) { return {ErrorCode::kUnavailable, what + ": " + std::strerror(errno), {}}; }

Result<void> sync_folder(const std::string& folder) {
    const Descriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd || fsync(fd.get()) != 0) return disk_fault("folder " + folder + " cannot be written to disk");
    return {};
}

/// A new file only.
Result<void> write_new(const std::string& path, std::string_view content) {
    const Descriptor fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return disk_fault(path + " cannot be made");
    if (!write_all(fd.get(), content)) return disk_fault(path + " cannot be written");
    if (fsync(fd.get()) != 0) return disk_fault(path + " cannot be written to disk");
    return {};
}

Result<void> fill(const std::string& folder, const std::vector<NewFile>& files) {
    for (const NewFile& file : files) {
        const std::string path = folder + "/" + file.name;
        const std::string parent = fs::path(path).parent_path();
        if (parent != folder && mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST)
            return disk_fault("folder " + parent + " cannot be made");
        if (Result<void> written = write_new(path, file.content); !written) return written;
        if (Result<void> synced = sync_folder(parent); !synced) return synced;
    }
    return sync_folder(folder);
}

std::string without_slash(std::string folder) {
    while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    return folder;
}

std::string parent_of(const std::string& folder) {
    const std::string parent = fs::path(folder).parent_path();
    return parent.empty() ? "." : parent;
}

/// Or the number, where it has no name.
std::string user_name(uid_t uid) {
    char room[4096];
    passwd entry{};
    passwd* found = nullptr;
    return getpwuid_r(uid, &entry, room, sizeof room, &found) == 0 && found != nullptr ? entry.pw_name
                                                                                       : std::to_string(uid);
}

Error unreadable(const std::string& path, const std::string& what) {
    if (errno != EACCES) return disk_fault(what + path + " cannot be read");
    const std::string who = user_name(geteuid());
    return {ErrorCode::kUnavailable,
            what + path + " cannot be read by '" + who + "', who runs this: " + std::strerror(EACCES) +
                "; as root, 'chown " + who + " " + path + "', and look at the folders it lies in",
            {}};
}

}  // namespace

Result<std::optional<std::string>> read_secure_file(const std::string& path, std::size_t limit, Secrecy secrecy) {
    const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd && errno == ENOENT) return std::optional<std::string>{};
    if (!fd) return unreadable(path, "");
    struct stat status {};
    if (fstat(fd.get(), &status) != 0) return disk_fault(path + " cannot be read");
    if (!S_ISREG(status.st_mode)) return invalid(path + " is no regular file");
    if (secrecy == Secrecy::kPrivate && (status.st_mode & 077) != 0)
        return Error{ErrorCode::kDenied,
                     path + " holds a private key that others may use; run 'chmod 600 " + path +
                         "', and make a new key if others were on this machine",
                     {}};
    if (secrecy == Secrecy::kPrivate && status.st_uid != geteuid() && status.st_uid != 0)
        return Error{
            ErrorCode::kDenied, path + " belongs to user " + user_name(status.st_uid) + "; run this as that user", {}};
    std::optional<std::string> content = read_at(fd.get(), 0, limit + 1);
    if (!content) return disk_fault(path + " cannot be read");
    if (content->size() <= limit) return content;
    wipe(*content);
    return Error{ErrorCode::kTooLarge, path + " is over " + std::to_string(limit) + " bytes", {}};
}

Result<void> check_folder(const std::string& folder) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0) return unreadable(folder, "folder ");
    if (!S_ISDIR(status.st_mode)) return invalid(folder + " is no folder");
    if ((status.st_mode & 022) != 0)
        return Error{ErrorCode::kDenied,
                     "others may put files into " + folder + "; run 'chmod 700 " + folder + "' and look at its files",
                     {}};
    return {};
}

Result<void> create_folder(const std::string& wanted, const std::vector<NewFile>& files) {
    const std::string folder = without_slash(wanted);
    if (folder.empty()) return invalid("the folder has no name");
    std::string made = folder + ".new-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) return disk_fault("nothing can be made beside folder " + folder);
    Result<void> filled = fill(made, files);
    // Over an empty folder this takes its place; over anything else it fails: nothing is ever overwritten.
    if (filled && std::rename(made.c_str(), folder.c_str()) == 0) return sync_folder(parent_of(folder));
    const int why = errno;
    std::error_code ignored;
    fs::remove_all(made, ignored);
    if (!filled) return filled;
    if (why == ENOTEMPTY || why == EEXIST || why == ENOTDIR)
        return Error{
            ErrorCode::kConflict, folder + " exists and is not an empty folder; name another or move it away", {}};
    errno = why;
    return disk_fault("folder " + folder + " cannot be made");
}

Result<void> replace_file(const std::string& folder, const NewFile& file) {
    const std::string path = folder + "/" + file.name;
    const std::string next = path + ".new-" + std::to_string(getpid());  // others may replace the file just now
    if (unlink(next.c_str()) != 0 && errno != ENOENT) return disk_fault(next + " cannot be removed");
    Result<void> written = write_new(next, file.content);
    if (written && std::rename(next.c_str(), path.c_str()) == 0) return sync_folder(folder);
    if (written) written = disk_fault(path + " cannot be replaced");
    unlink(next.c_str());
    return written;
}

void wipe(std::string& secret) {
    OPENSSL_cleanse(secret.data(), secret.size());
    secret.clear();
}

}  // namespace zbs::openssl
