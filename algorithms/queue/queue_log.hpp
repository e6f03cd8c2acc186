#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "algorithms/base/result.hpp"
#include "algorithms/queue/queue_event.hpp"

namespace zbs {

/// What came of a replay.
struct QueueReplay {
    std::size_t decisions = 0;
    std::size_t starts = 0;
    struct Difference {
        std::size_t event = 0;  ///< place in the log, from 0
        QueueDecision logged, replayed;
    };
    std::optional<Difference>
        first_difference;  ///< the replay ends there: from then on two histories would be compared
};

/// Drives a queue with the events of a live zone's log, and compares each decision with the one that the zone made. The
/// disciplines are those of the log. Errors, kInvalidArgument with the place of the event: a log that does not begin
/// with `QueueOpened`, names no known discipline, or has events that no queue can have had.
Result<QueueReplay> replay(std::span<const QueueEvent> log);

}  // namespace zbs
