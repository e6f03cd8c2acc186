#pragma once
#include <cstdint>
#include <string_view>

#include "algorithms/queue/zone_queue.hpp"

namespace zbs {

/// What serves a queue.
struct Discipline {
    ZoneQueue::MakePolicy make;
    ZoneState::Sharing sharing = ZoneState::Sharing::kSpace;
    bool stops = false;     ///< parts that run are stopped, to go on later
    std::int32_t rows = 1;  ///< most parts of one processor: rows of the queue's calendar

    /// Whether that takes agents on the machines, which stop and weigh processes.
    bool needs_agents() const { return sharing != ZoneState::Sharing::kSpace || stops; }
};

/// The policies that a text names, NAME[:OPTION=VALUE]...: "easy", "gang:packing=best-fit". Errors, kInvalidArgument:
/// no such policy or option; one that cannot serve so many processors; one that moves jobs that run to other
/// processors, or shares a processor among more than `kMostRows` parts.
Result<Discipline> queue_discipline(std::string_view text, std::int32_t processors);
inline constexpr std::int32_t kMostRows = 16;

}  // namespace zbs
