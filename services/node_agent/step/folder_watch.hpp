#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "services/common/adapters/process/disk_use.hpp"

namespace zbs::step {

/// Sees whether a job's folder takes more of the disk than it may, in turns of some milliseconds: a large folder keeps
/// nobody waiting. A look begins about a second after the last one; looking takes a twentieth of a processor at most,
/// so a look at 100,000 files takes some seconds.
class FolderWatch {
  public:
    using Time = std::chrono::steady_clock::time_point;

    /// `bound`: bytes; 0 = none.
    FolderWatch(std::string folder, std::uint64_t bound, process::DiskUse::Budget budget = {})
        : use_(std::move(folder)), bound_(bound), budget_(budget) {}
    /// One budget, where it is time. True: it takes more, or has too many files (`DiskUse::unseen`). Where a look took
    /// several turns, or did not see all, the next one has to say so, too: what was written and removed meanwhile may
    /// have counted together.
    bool is_over();
    /// Why, once it was.
    const std::string& reason() const { return reason_; }
    /// When the next budget is due.
    Time next() const { return next_; }

  private:
    process::DiskUse use_;
    std::uint64_t bound_;
    process::DiskUse::Budget budget_;
    Time next_{};
    std::string reason_;
    int turns_ = 0;          ///< of the look under way
    bool was_over_ = false;  ///< as the look before said
};

}  // namespace zbs::step
