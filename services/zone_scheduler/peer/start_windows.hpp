#pragma once
#include <functional>
#include <vector>

#include "services/common/messages/capacity.hpp"

namespace zbs {

/// How much is free from an instant on, counted for that instant alone.
using CountFree = std::function<StartWindow(Duration start)>;

/// What could start later, at the instants `at`, which are in order and begin with `now`, where something is free now
/// or not. Counts at most 512 instants.
std::vector<StartWindow> probe_windows(const std::vector<Duration>& at, Duration now, bool some_free_now,
                                       const CountFree& count_free);
/// At most `limits::kMaxStartWindows`: windows between two that are sent count as the worst among them, so that nothing
/// is promised that is not there.
std::vector<StartWindow> merge_windows(std::vector<StartWindow> windows);
/// Sets when as much as in each window may be free, from windows by estimated ends.
void expect_from(const std::vector<StartWindow>& estimated, std::vector<StartWindow>& windows);

}  // namespace zbs
