#include "services/node_agent/step/folder_watch.hpp"

#include <optional>

#include "services/common/messages/part.hpp"

namespace zbs::step {
namespace {

using WatchClock = std::chrono::steady_clock;
constexpr std::chrono::seconds kCheckAgain{1};
constexpr int kRestShare = 20;  ///< times what looking took is waited

}  // namespace

bool FolderWatch::is_over() {
    const Time begin = WatchClock::now();
    if (bound_ == 0 || begin < next_) return false;
    const std::optional<std::uint64_t> bytes = use_.measure(budget_);
    const std::chrono::nanoseconds took = WatchClock::now() - begin;
    ++turns_;
    next_ = begin + took + kRestShare * took;
    if (!bytes) return false;
    next_ += kCheckAgain;
    const int turns = std::exchange(turns_, 0);
    const bool is_large = *bytes > bound_;
    const bool over = is_large || !use_.unseen().empty();
    const bool was_over = std::exchange(was_over_, over);
    reason_ = std::string(kFolderReason) + ": " +
              (is_large ? "more than " + std::to_string(bound_ >> 20) + " MiB" : use_.unseen());
    return over && ((is_large && turns == 1) || was_over);
}

}  // namespace zbs::step
