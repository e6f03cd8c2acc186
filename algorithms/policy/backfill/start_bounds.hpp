#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "algorithms/policy/backfill/capacity_profile.hpp"

namespace zbs {

/// Earliest starts in a profile whose capacity only shrinks, as while one plan places job after job: a job starts no
/// earlier than any placed before that is neither larger nor longer, so its search may begin there. The answers are
/// those of `CapacityProfile::earliest_start`; without these bounds each search walks over all that was placed before,
/// and a plan of n jobs costs O(n^2).
///
/// Sizes and walltimes are kept in classes of 1/8 and 1/4 of a power of two, a two-dimensional prefix maximum (Fenwick
/// tree) over both. The first jobs of a plan are searched without it, which is faster while they are few.
class StartBounds {
  public:
    /// No job has more than `processors`, >= 1.
    explicit StartBounds(std::int32_t processors)
        : sizes_(class_of(static_cast<std::uint64_t>(processors), kSizeBits) + 1) {}
    /// The earliest start of this job at `now` or later; kNever where there is none.
    Time earliest_start(const CapacityProfile& profile, Time now, std::int32_t processors, Duration walltime) {
        const bool bounded = ++searches_ > kUnbounded;
        if (searches_ == kUnbounded + 1) latest_.assign(sizes_ * kLengths, Time::min());
        const Time from = bounded ? std::max(now, bound(processors, walltime)) : now;
        const Time start = profile.earliest_start({.from = from, .duration = walltime, .processors = processors});
        if (bounded && start > now) note(processors, walltime, start);
        return start;
    }

  private:
    static constexpr std::size_t kUnbounded = 64;
    static constexpr unsigned kSizeBits = 3, kLengthBits = 2;
    static constexpr std::size_t kLengths =
        (25U << kLengthBits) + 1;  ///< up to a year in seconds; longer ones share one

    /// The class of value >= 1, rounded down: its power of two, and the next `bits` binary digits.
    static std::size_t class_of(std::uint64_t value, unsigned bits) {
        const unsigned power = static_cast<unsigned>(std::bit_width(value)) - 1;
        const std::uint64_t digits = power >= bits ? value >> (power - bits) : value << (bits - power);
        return (std::size_t{power} << bits) + static_cast<std::size_t>(digits - (std::uint64_t{1} << bits));
    }
    static std::uint64_t seconds_of(Duration walltime) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(1, walltime / std::chrono::seconds{1}));
    }

    Time bound(std::int32_t processors, Duration walltime) const {
        Time latest = Time::min();
        const std::size_t size = class_of(static_cast<std::uint64_t>(processors), kSizeBits) + 1;
        const std::size_t length = std::min(class_of(seconds_of(walltime), kLengthBits) + 1, kLengths);
        for (std::size_t s = size; s > 0; s -= s & -s)
            for (std::size_t l = length; l > 0; l -= l & -l)
                latest = std::max(latest, latest_[(s - 1) * kLengths + l - 1]);
        return latest;
    }

    void note(std::int32_t processors, Duration walltime, Time start) {
        // Rounded up: the class after the one of the next smaller value.
        const auto rounded_up = [](std::uint64_t value, unsigned bits) {
            return value == 1 ? 0 : class_of(value - 1, bits) + 1;
        };
        const std::size_t size = rounded_up(static_cast<std::uint64_t>(processors), kSizeBits) + 1;
        const std::size_t length = rounded_up(seconds_of(walltime) + 1, kLengthBits) + 1;
        // Each of the following cells stands for all jobs of this one and more: where one knows a start as late, so do
        // those behind it. Larger jobs start later as a rule, so that few are written.
        for (std::size_t s = size; s <= sizes_; s += s & -s)
            for (std::size_t l = length; l <= kLengths; l += l & -l) {
                Time& latest = latest_[(s - 1) * kLengths + l - 1];
                if (latest < start) {
                    latest = start;
                } else if (l == length) {
                    return;
                } else {
                    break;
                }
            }
    }

    std::size_t sizes_;
    std::size_t searches_ = 0;
    std::vector<Time> latest_;  ///< by class of size and class of walltime
};

/// Earliest starts in a profile in which jobs move to earlier places, one after the other. A search for a job that is
/// neither smaller nor shorter than an earlier one may begin where the earlier one ended, or where a room can reach
/// into what was given back since: elsewhere free processors have only become fewer. The answers are those of a search
/// from the front. Keeps the last few searches; each call costs one pass over them.
class RecentStarts {
  public:
    /// No room for this job begins earlier, where `back_from` is the first instant that only this job has given back.
    Time bound(std::int32_t processors, Duration walltime, Time back_from) const {
        Time latest = Time::min();
        for (const Found& found : found_)
            if (found.processors <= processors && found.walltime <= walltime)
                latest = std::max(latest, std::min(found.start, found.back_from - walltime));
        return std::min(latest, back_from - walltime);
    }
    /// No room for this job begins before `start`.
    void note(std::int32_t processors, Duration walltime, Time start) {
        const Found now{processors, walltime, start, kNever};
        for (Found& found : found_)
            if (found.processors >= processors && found.walltime >= walltime &&
                std::min(found.start, found.back_from) <= start) {
                found = now;
                return;
            }
        found_[next_++ % found_.size()] = now;
    }
    /// Capacity came back from `begin` on, where no more than `most_free` are free now.
    void give_back(Time begin, std::int32_t most_free) {
        for (Found& found : found_)
            if (found.processors <= most_free) found.back_from = std::min(found.back_from, begin);
    }

  private:
    struct Found {
        std::int32_t processors = std::numeric_limits<std::int32_t>::max();
        Duration walltime = Duration::max();
        Time start = Time::min();
        Time back_from = kNever;  ///< the first instant given back since at which so many may be free
    };
    std::array<Found, 16> found_;
    std::size_t next_ = 0;
};

}  // namespace zbs
