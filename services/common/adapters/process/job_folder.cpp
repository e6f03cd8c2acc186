#include "services/common/adapters/process/job_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::process {
namespace {

/// Folders in folders that are looked into: each level holds a file descriptor.
constexpr int kDeepest = 64;
constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// What the job may have put in place of a file is not ours to hand out: another's file that it linked to, a device.
bool is_own_file(const struct stat& info, uid_t owner) { return S_ISREG(info.st_mode) && info.st_uid == owner; }

/// The folder itself, and who owns it; -1 where it is not there.
int open_folder(const std::string& folder, uid_t& owner) {
    const int fd = open(folder.c_str(), kFolderFlags);
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
    std::string leaf;
    const Descriptor top(open_folder(folder, owner)), inside(top ? open_parent(top.get(), file, leaf) : -1);
    if (!inside) return missing;
    const Descriptor opened(
        openat(inside.get(), leaf.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!opened && (errno == EWOULDBLOCK || errno == EACCES))
        return Error{ErrorCode::kUnavailable, "the job keeps its file " + file + " from being read", {}};
    struct stat info {};
    const int fd = opened.get();
    if (!opened || fstat(fd, &info) != 0 || !is_own_file(info, owner)) return missing;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    const std::uint64_t rest = size - std::min(offset, size);
    return read_at(fd, offset, static_cast<std::size_t>(std::min<std::uint64_t>(limit, rest))).value_or("");
}

std::vector<StepFiles::File> list_job_files(const std::string& folder, const std::string& prefix) {
    std::vector<StepFiles::File> files;
    uid_t owner = 0;
    const int fd = open_folder(folder, owner);
    DIR* entries = fd < 0 ? nullptr : fdopendir(fd);
    if (entries == nullptr) return files;
    std::size_t seen = 0;
    while (const dirent* entry = readdir(entries)) {
        if (++seen > limits::kMaxJobFiles) break;
        struct stat info {};
        const std::string name = entry->d_name;
        const bool is_hidden = name.starts_with('.') && !name.starts_with(own_files::kPrefix);
        if (!name.starts_with(prefix) || is_hidden || !is_plain_name(name.substr(name[0] == '.' ? 1 : 0))) continue;
        if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !is_own_file(info, owner)) continue;
        files.push_back({name, static_cast<std::uint64_t>(info.st_size)});
    }
    closedir(entries);
    std::sort(files.begin(), files.end(),
              [](const StepFiles::File& a, const StepFiles::File& b) { return a.name < b.name; });
    return files;
}

int open_parent(int folder, const std::string& name, std::string& leaf) {
    int inside = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    std::size_t begin = 0;
    for (std::size_t end; inside >= 0 && (end = name.find('/', begin)) != std::string::npos; begin = end + 1) {
        const int below = openat(inside, name.substr(begin, end - begin).c_str(), kFolderFlags);
        const int fault = errno;
        close(inside);
        errno = fault;
        inside = below;
    }
    leaf = name.substr(begin);
    return inside;
}

namespace {

/// Whether a link in `folder` leads to a folder, as far as that can be known without a step out of `folder`.
bool may_be_folder(int folder, const std::string& link) {
    struct open_how how {};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    const int fd = static_cast<int>(syscall(SYS_openat2, folder, link.c_str(), &how, sizeof how));
    if (fd >= 0) return close(fd) == 0;
    return errno != ENOTDIR && errno != ENOENT && errno != ELOOP;
}

/// What is at a folder that is open as `fd`, which is closed, and in its folders; `before`: its name with a '/'.
class TreeListing {
  public:
    explicit TreeListing(uid_t owner) : owner_(owner) {}

    void add(int fd, const std::string& before, int depth) {
        const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(fd), closedir);
        if (!entries) return void(close(fd));
        while (const dirent* entry = readdir(entries.get())) {
            const std::string word = entry->d_name;
            if (word == "." || word == "..") continue;
            if (files_.size() >= limits::kMaxJobFiles) return is_cut_ = true, void();
            struct stat info {};
            if (fstatat(dirfd(entries.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
            add(dirfd(entries.get()), word, before + word, info, depth);
        }
    }

    std::vector<StepFiles::File> take() {
        std::sort(files_.begin(), files_.end(),
                  [](const StepFiles::File& a, const StepFiles::File& b) { return a.name < b.name; });
        if (is_cut_)
            files_.push_back(
                {"*", 0, "more than " + std::to_string(limits::kMaxJobFiles) + " files are in its folder"});
        return std::move(files_);
    }

  private:
    void add(int folder, const std::string& word, const std::string& name, const struct stat& info, int depth) {
        StepFiles::File file{.name = name,
                             .bytes = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0};
        file.is_folder = S_ISDIR(info.st_mode);
        file.executable = S_ISREG(info.st_mode) && (info.st_mode & S_IXUSR) != 0;
        file.fault = file_name_fault(name);
        if (S_ISLNK(info.st_mode)) {
            if (may_be_folder(folder, word)) file.name += "/*";
            file.fault = "is a link, and links are not followed";
        } else if (file.is_folder && file.fault.empty()) {
            file.fault = "is a folder; the pattern 'NAME/**' asks for what is in it";
            const int fd = depth < kDeepest ? openat(folder, word.c_str(), kFolderFlags) : -1;
            if (fd >= 0)
                add(fd, name + "/", depth + 1);
            else
                file = {name + "/*", 0,
                        depth < kDeepest ? "is a folder that cannot be opened" : "is too deep in folders"};
        } else if (file.fault.empty() && !S_ISREG(info.st_mode)) {
            file.fault = "is no regular file";
        } else if (file.fault.empty() && info.st_uid != owner_) {
            file.fault = "belongs to another account";
        }
        if (!is_one_line(file.name)) file.name = printable_text(file.name, limits::kMaxStagedNameBytes);
        files_.push_back(std::move(file));
    }

    uid_t owner_;
    bool is_cut_ = false;
    std::vector<StepFiles::File> files_;
};

}  // namespace

std::vector<StepFiles::File> list_job_tree(const std::string& folder) {
    uid_t owner = 0;
    const int fd = open_folder(folder, owner);
    if (fd < 0 && errno != ENOENT) return {{"*", 0, "the folder that the ranks ran in cannot be opened"}};
    TreeListing listing(owner);
    if (fd >= 0) listing.add(fd, {}, 0);
    return listing.take();
}

namespace {

class TreeRemoval {
  public:
    TreeRemoval(int top, std::size_t at_most, const std::string& last) : top_(top), at_most_(at_most), last_(last) {}

    /// The content of the folder open as `fd` (which is closed), then what is called `last`. False: an end was reached,
    /// of the budget or of what can be done.
    bool empty(int fd, int depth, dev_t device) {
        const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(fd), closedir);
        if (entries == nullptr) return fail(errno, "a folder");
        bool has_last = false;
        while (const dirent* entry = readdir(entries.get())) {
            const std::string name = entry->d_name;
            if (name == "." || name == "..") continue;
            if (depth == 0 && name == last_)
                has_last = true;
            else if (!take(fd, name, depth, device))
                return false;
        }
        return !has_last || take(fd, last_, depth, device);
    }

    bool take(int parent, const std::string& name, int depth, dev_t device) {
        if (removed_ >= at_most_) return false;
        if (unlinkat(parent, name.c_str(), 0) == 0) return ++removed_ > 0;
        if (errno == ENOENT) return true;
        if (errno != EISDIR && errno != EPERM) return fail(errno, name);
        if (depth >= kDeepest) {
            struct stat info {};
            if (fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return fail(errno, name);
            const std::string moved = ".deep-" + std::to_string(info.st_ino);
            return renameat(parent, name.c_str(), top_, moved.c_str()) == 0 ? ++removed_ > 0 : fail(errno, name);
        }
        // A job may have taken its own rights away. Only a folder is changed: a link in its place is not followed.
        int fd = openat(parent, name.c_str(), kFolderFlags);
        if (fd < 0 && errno == EACCES && fchmodat(parent, name.c_str(), 0700, AT_SYMLINK_NOFOLLOW) == 0)
            fd = openat(parent, name.c_str(), kFolderFlags);
        if (fd < 0) return fail(errno, name);
        struct stat info {};
        if (fstat(fd, &info) != 0 || info.st_dev != device) {
            close(fd);
            return fail(EXDEV, name);
        }
        if ((info.st_mode & 0700) != 0700) static_cast<void>(fchmod(fd, 0700));
        if (!empty(fd, depth + 1, device)) return false;
        if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) return fail(errno, name);
        return ++removed_ > 0;
    }

    std::size_t removed() const { return removed_; }
    const std::string& fault() const { return fault_; }

  private:
    bool fail(int error, const std::string& name) {
        fault_ = name + ": " + std::strerror(error);
        return false;
    }
    int top_;
    std::size_t at_most_;
    std::size_t removed_ = 0;
    const std::string& last_;
    std::string fault_;
};

}  // namespace

Result<void> remove_job_files(const std::string& folder, const std::vector<std::string>& names) {
    uid_t owner = 0;
    const Descriptor fd(open_folder(folder, owner));
    if (!fd) return {};
    Result<void> all;
    for (const std::string& name : names) {
        if (!file_name_fault(name).empty()) continue;
        std::string leaf;
        const Descriptor inside(open_parent(fd.get(), name, leaf));
        if (!inside || unlinkat(inside.get(), leaf.c_str(), 0) == 0 || errno == ENOENT || errno == EISDIR) continue;
        if (all) all = Error{ErrorCode::kUnavailable, "cannot remove " + name + ": " + std::strerror(errno), {}};
    }
    return all;
}

Result<StepFiles::Removal> remove_job_tree(const std::string& path, std::size_t at_most, const std::string& last) {
    uid_t owner = 0;
    const int fd = open_folder(path, owner);
    if (fd < 0) {
        if (errno == ENOENT) return StepFiles::Removal{0, true};
        return Error{ErrorCode::kUnavailable, "cannot open " + path + ": " + std::strerror(errno), {}};
    }
    struct stat info {};
    TreeRemoval tree(fd, at_most, last);
    const bool opened = fstat(fd, &info) == 0;
    const bool is_empty = opened ? tree.empty(fd, 0, info.st_dev) : (close(fd), false);
    if (!tree.fault().empty())
        return Error{ErrorCode::kUnavailable, "cannot remove all of " + path + ": " + tree.fault(), {}};
    if (!is_empty || tree.removed() >= at_most) return StepFiles::Removal{tree.removed(), false};
    if (rmdir(path.c_str()) == 0 || errno == ENOENT) return StepFiles::Removal{tree.removed() + 1, true};
    if (errno != ENOTEMPTY)
        return Error{ErrorCode::kUnavailable, "cannot remove " + path + ": " + std::strerror(errno), {}};
    return StepFiles::Removal{tree.removed(), false};  // what lay too deep is at the top now
}

}  // namespace zbs::process
