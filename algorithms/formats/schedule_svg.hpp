#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/time.hpp"

namespace zbs::formats {

/// One job of a schedule to be drawn, or a piece of one that was preempted.
struct ScheduleBar {
    std::int64_t id = 0;
    Time start{};
    Time end{};  ///< > start
    std::int32_t processors = 1;
    /// Which processors it has, [first, last], of row r from r x the processors of the machine on. Empty: not known.
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges{};
};

struct SchedulePicture {
    std::string title;
    std::span<const ScheduleBar> jobs;
    std::int32_t processors = 1;  ///< of the machine, >= 1
    std::int32_t rows = 1;        ///< of the slice matrix where jobs take turns, >= 1
    /// More jobs than this are not drawn one by one.
    static constexpr std::size_t kMaxJobs = 2000;
    static constexpr std::size_t kMaxRectangles = 20'000;
};
/// A Gantt chart: processors over time, the rows of a slice matrix above each other, a rectangle a job, in colours by
/// size. Where it is not known which processors a job has, it takes the lowest free ones, in one piece or several.
///
/// A schedule of more jobs, of too many pieces, or one that needs more processors at a time than there are (jobs that
/// have shares), becomes a stacked area of the processors in use, or of slots, by size of the job: never more than
/// about 3 MB. O(jobs log jobs + rectangles).
std::string schedule_svg(const SchedulePicture& picture);

}  // namespace zbs::formats
