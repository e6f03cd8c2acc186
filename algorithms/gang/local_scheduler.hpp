#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace zbs::gang {

/// A task of one processor as its local scheduler sees it.
struct LocalTask {
    bool ready = false;
    double priority = 0;
    std::uint64_t last_picked = 0;  ///< larger: picked later; 0: never
};
enum class LocalRule : std::uint8_t { kRoundRobin, kPriority };

/// Which task to run while the gang's own task is blocked or the slot is idle [DaSilva2000, section 6.3]: the ready one
/// of highest priority, by turns among equals; under kRoundRobin by turns among all. With kPriority a task below
/// `floor` is taken to need its gang and is never picked, so the processor may stay idle. Index into `tasks`.
std::optional<std::size_t> pick_local(std::span<const LocalTask> tasks, LocalRule rule, double floor = 0);

}  // namespace zbs::gang
