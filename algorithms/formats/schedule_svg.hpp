#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "algorithms/base/time.hpp"

namespace zbs::formats {

/// One job of a schedule to be drawn, or a piece of one that was preempted.
struct ScheduleBar {
    std::int64_t id = 0;
    Time start{};
    Time end{};  ///< > start
    std::int32_t processors = 1;
};

struct SchedulePicture {
    std::string title;
    std::span<const ScheduleBar> jobs;
    std::int32_t processors = 1;  ///< of the machine, >= 1
    /// More jobs than this are not drawn one by one.
    static constexpr std::size_t kMaxJobs = 2000;
    static constexpr std::size_t kMaxRectangles = 20'000;
};
/// A Gantt chart: processors over time, a rectangle a job, in colours by size. Schedules say how many processors a job
/// has, not which; for the picture each takes the lowest free ones, in one piece or several.
///
/// A schedule of more jobs, of too many pieces, or one that needs more processors at a time than there are (jobs that
/// take turns), becomes a stacked area of the processors in use, by size of the job: never more than about 3 MB.
/// O(jobs log jobs + rectangles).
std::string schedule_svg(const SchedulePicture& picture);

}  // namespace zbs::formats
