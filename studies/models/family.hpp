#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace zbs::gang {

/// A number of tasks that change processors, both counted within the job's own processors.
struct TaskMove {
    std::int32_t from;
    std::int32_t to;
    std::int32_t tasks;
    bool operator==(const TaskMove&) const = default;
};

/// The moves after which every one of a job's K processors has floor(T / K) or ceil(T / K) of its T tasks
/// [DaSilva2000, section 7.1]: tasks of a job that has more of them than processors share its slots (family
/// scheduling), and never leave its processors.
///
/// Each processor in turn asks the one 1, 2, .. K - 1 places on for half of what that has more, rounded down; a step
/// knows only the two counts. It ends when no two counts differ by more than one. Counts >= 0.
std::vector<TaskMove> balance_family(std::span<const std::int32_t> tasks_of_processor);

}  // namespace zbs::gang
