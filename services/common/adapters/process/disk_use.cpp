#include "services/common/adapters/process/disk_use.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "services/common/messages/staging.hpp"

namespace zbs::process {
namespace {

constexpr std::size_t kMaxDepth = 64;  ///< levels; each holds a descriptor
constexpr std::uint64_t kBlock = 512;  ///< bytes; of st_blocks, whatever the file system has
constexpr int kScanFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

}  // namespace

bool DiskUse::begin() {
    unseen_.clear();
    seen_ = 0;
    bytes_ = 0;
    linked_.clear();
    const int fd = open(folder_.c_str(), kScanFlags);
    struct stat info {};
    if (fd < 0) return false;
    DIR* const top = fstat(fd, &info) == 0 ? fdopendir(fd) : nullptr;
    if (top == nullptr) {
        close(fd);
        return false;
    }
    device_ = info.st_dev;
    open_.emplace_back(top, closedir);
    return true;
}

std::optional<std::uint64_t> DiskUse::measure(const Budget& budget) {
    if (open_.empty() && !begin()) return 0;
    const auto end = std::chrono::steady_clock::now() + budget.time;
    for (std::size_t looked = 0; !open_.empty(); ++looked) {
        if (looked >= budget.entries || (looked > 0 && std::chrono::steady_clock::now() >= end)) return std::nullopt;
        const dirent* const entry = readdir(open_.back().get());
        if (entry == nullptr) {
            open_.pop_back();
            continue;
        }
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (++seen_ > most_entries_) {
            unseen_ = "more than " + std::to_string(most_entries_) + " files are in it";
            open_.clear();
        }
        if (!open_.empty()) add(entry->d_name);
    }
    linked_.clear();
    return bytes_;
}

void DiskUse::add(const char* name) {
    const int folder = dirfd(open_.back().get());
    struct stat info {};
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    const bool is_folder = S_ISDIR(info.st_mode);
    if (open_.size() == 1 && S_ISREG(info.st_mode) && is_own_output(name)) return;
    const std::uint64_t names = is_folder ? 1 : static_cast<std::uint64_t>(info.st_nlink);
    add_blocks(static_cast<std::uint64_t>(info.st_blocks), names, {info.st_dev, info.st_ino});
    if (!is_folder || info.st_dev != device_ || open_.size() > kMaxDepth) return;
    const int fd = openat(folder, name, kScanFlags);
    if (fd < 0) return;
    DIR* const below = fdopendir(fd);
    if (below != nullptr)
        open_.emplace_back(below, closedir);
    else
        close(fd);
}

/// Of more files than are remembered each name counts its share: right where all names are in this folder.
void DiskUse::add_blocks(std::uint64_t blocks, std::uint64_t names, std::pair<dev_t, ino_t> file) {
    if (names > 1 && linked_.contains(file)) return;
    const bool is_shared = names > 1 && linked_.size() >= most_linked_;
    if (names > 1 && !is_shared) linked_.insert(file);
    bytes_ += (is_shared ? (blocks + names - 1) / names : blocks) * kBlock;
}

}  // namespace zbs::process
