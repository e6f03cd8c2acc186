#pragma once
#include <dirent.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/common/messages/limits.hpp"

namespace zbs::process {

/// Bytes on disk of what a job's folder holds at any depth, but not of a step's own output at its top; looked at a bit
/// at a time, so that who looks can do other things between. Follows no link, leaves no file system, and looks at no
/// more than limits::kMaxJobFiles entries: more are reported as `unseen`. Files in a folder that cannot be opened, or
/// below the 64th level, do not count. A file of several names counts once. Holds a descriptor for each level, and some
/// 3 MiB at most for files of several names.
class DiskUse {
  public:
    /// One call ends after so many entries, or as soon as one was seen after so long.
    struct Budget {
        std::size_t entries = 4'096;
        std::chrono::milliseconds time{20};
    };

    /// `most_linked`: files of several names that are remembered; of further ones each name counts its share.
    explicit DiskUse(std::string folder, std::size_t most_linked = 32'768,
                     std::size_t most_entries = limits::kMaxJobFiles)
        : folder_(std::move(folder)), most_linked_(most_linked), most_entries_(most_entries) {}
    /// Goes on with the measurement that is under way, or of a new one. The bytes once all was looked at; 0 where there
    /// is no folder. What changes meanwhile may count or not.
    std::optional<std::uint64_t> measure(const Budget& budget);
    /// Why the measurement that is over has not seen all; empty where it has. Valid until the next begins.
    const std::string& unseen() const { return unseen_; }

  private:
    using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;
    bool begin();
    void add(const char* name);
    void add_blocks(std::uint64_t blocks, std::uint64_t names, std::pair<dev_t, ino_t> file);

    std::string folder_;
    std::size_t most_linked_, most_entries_;
    dev_t device_ = 0;
    std::vector<Folder> open_;  ///< from the top down to the one that is being looked at; none: no look is under way
    std::size_t seen_ = 0;      ///< entries
    std::uint64_t bytes_ = 0;
    std::string unseen_;
    std::set<std::pair<dev_t, ino_t>> linked_;  ///< files of several names that were counted
};

}  // namespace zbs::process
