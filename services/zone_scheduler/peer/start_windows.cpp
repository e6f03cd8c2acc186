#include "services/zone_scheduler/peer/start_windows.hpp"

#include <algorithm>

#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxProbes = 512;

}  // namespace

std::vector<StartWindow> probe_windows(const std::vector<Duration>& at, Duration now, bool some_free_now,
                                       const CountFree& count_free) {
    std::vector<StartWindow> windows;
    for (std::size_t i = 1; i < at.size() && i < kMaxProbes; ++i) {
        const StartWindow window = count_free(at[i]);
        // That nothing is free goes without saying only as long as nothing was.
        if (window.processors > 0 || some_free_now || !windows.empty()) windows.push_back(window);
    }
    // The answer describes nothing behind the last moment examined but the state from the very end on.
    if (at.size() > kMaxProbes) {
        windows.push_back({.after = at[kMaxProbes] - now, .expected = at[kMaxProbes] - now});
        if (at.back() > at[kMaxProbes]) windows.push_back(count_free(at.back()));
    }
    return windows;
}

std::vector<StartWindow> merge_windows(std::vector<StartWindow> windows) {
    const auto same = [](const StartWindow& a, const StartWindow& b) {
        return a.processors == b.processors && a.speed_sum == b.speed_sum && a.largest_machine == b.largest_machine;
    };
    windows.erase(std::unique(windows.begin(), windows.end(), same), windows.end());
    if (windows.size() <= limits::kMaxStartWindows) return windows;
    const std::size_t stride = (windows.size() + limits::kMaxStartWindows - 2) / (limits::kMaxStartWindows - 1);
    std::vector<StartWindow> merged;
    for (std::size_t i = 0; i + 1 < windows.size(); i += stride) {
        const std::size_t end = std::min(i + stride, windows.size() - 1);
        StartWindow worst = *std::min_element(
            windows.begin() + static_cast<std::ptrdiff_t>(i), windows.begin() + static_cast<std::ptrdiff_t>(end),
            [](const StartWindow& a, const StartWindow& b) { return a.processors < b.processors; });
        worst.after = windows[i].after;
        worst.expected = windows[i].expected;
        merged.push_back(worst);
    }
    merged.push_back(windows.back());
    return merged;
}

void expect_from(const std::vector<StartWindow>& estimated, std::vector<StartWindow>& windows) {
    for (StartWindow& window : windows) {
        const auto first = std::find_if(estimated.begin(), estimated.end(),
                                        [&](const StartWindow& e) { return e.processors >= window.processors; });
        if (first != estimated.end()) window.expected = std::min(window.after, first->after);
    }
}

}  // namespace zbs
