#include "algorithms/gang/local_scheduler.hpp"

namespace zbs::gang {

std::optional<std::size_t> pick_local(std::span<const LocalTask> tasks, LocalRule rule, double floor) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const LocalTask& task = tasks[i];
        if (!task.ready || (rule == LocalRule::kPriority && task.priority < floor)) continue;
        if (!best) {
            best = i;
            continue;
        }
        const LocalTask& other = tasks[*best];
        if (rule == LocalRule::kPriority && task.priority != other.priority) {
            if (task.priority > other.priority) best = i;
        } else if (task.last_picked < other.last_picked) {
            best = i;
        }
    }
    return best;
}

}  // namespace zbs::gang
