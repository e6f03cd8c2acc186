#include "services/common/adapters/process/job_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "services/common/messages/limits.hpp"

namespace zbs::process {
namespace {

/// What the job may have put in place of a file is not ours to hand out: another's file that it linked to, a device.
bool is_own_file(const struct stat& info, uid_t owner) { return S_ISREG(info.st_mode) && info.st_uid == owner; }

/// The folder itself, and who owns it; -1 where it is not there.
int open_folder(const std::string& folder, uid_t& owner) {
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info {};
    if (fd >= 0 && fstat(fd, &info) == 0) {
        owner = info.st_uid;
        return fd;
    }
    if (fd >= 0) close(fd);
    return -1;
}

}  // namespace

bool is_plain_name(const std::string& name) {
    return !name.empty() && name.size() <= 128 && name[0] != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127 && c != '/'; });
}

Result<std::string> read_job_file(const std::string& folder, const std::string& file, std::uint64_t offset,
                                  std::size_t limit) {
    const Error missing{ErrorCode::kNotFound, "no file " + file, {}};
    uid_t owner = 0;
    const int parent = open_folder(folder, owner);
    if (parent < 0) return missing;
    const int fd = openat(parent, file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const int fault = errno;
    close(parent);
    if (fd < 0) {
        if (fault == EWOULDBLOCK || fault == EACCES)
            return Error{ErrorCode::kUnavailable, "the job keeps its file " + file + " from being read", {}};
        return missing;
    }
    struct stat info {};
    if (fstat(fd, &info) != 0 || !is_own_file(info, owner)) {
        close(fd);
        return missing;
    }
    const auto size = static_cast<std::uint64_t>(info.st_size);
    std::string text(offset >= size ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(limit, size - offset)),
                     '\0');
    std::size_t filled = 0;
    while (filled < text.size()) {
        const ssize_t got = pread(fd, text.data() + filled, text.size() - filled, static_cast<off_t>(offset + filled));
        if (got <= 0) break;
        filled += static_cast<std::size_t>(got);
    }
    close(fd);
    text.resize(filled);
    return text;
}

std::vector<Executor::File> list_job_files(const std::string& folder, const std::string& prefix) {
    std::vector<Executor::File> files;
    uid_t owner = 0;
    const int fd = open_folder(folder, owner);
    DIR* entries = fd < 0 ? nullptr : fdopendir(fd);
    if (entries == nullptr) return files;
    std::size_t seen = 0;
    while (const dirent* entry = readdir(entries)) {
        if (++seen > limits::kMaxJobFiles) break;
        struct stat info {};
        const std::string name = entry->d_name;
        if (!name.starts_with(prefix) || !is_plain_name(name)) continue;
        if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !is_own_file(info, owner)) continue;
        files.push_back({name, static_cast<std::uint64_t>(info.st_size)});
    }
    closedir(entries);
    std::sort(files.begin(), files.end(),
              [](const Executor::File& a, const Executor::File& b) { return a.name < b.name; });
    return files;
}

}  // namespace zbs::process
