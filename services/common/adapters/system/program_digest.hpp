#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>

namespace zbs::system {

/// Digests of program files, remembered while the files stay as they are. Not thread-safe.
class ProgramDigests {
  public:
    /// Larger files have none: reading them would hold up everybody else.
    static constexpr std::uint64_t kMaxBytes = 64ULL << 20;
    static constexpr std::size_t kMaxFiles = 256;  ///< remembered

    /// SHA-256 of the file as 64 hexadecimal digits in small letters. Empty where `path` is not absolute, is no plain
    /// file that everybody may read and execute (a digest must reveal nothing of a file that its reader may not read),
    /// is too large, or cannot be read. Costs the reading once, about 2 ms a MiB; then one system call.
    std::string of(const std::string& path);

  private:
    struct Known {
        std::string path;
        std::uint64_t device, inode, bytes;
        std::int64_t changed_s, changed_ns;
        std::string digest;
    };
    std::list<Known> known_;  ///< newest first
};

}  // namespace zbs::system
