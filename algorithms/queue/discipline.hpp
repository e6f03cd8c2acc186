#pragma once
#include <cstdint>
#include <string_view>

#include "algorithms/queue/zone_queue.hpp"

namespace zbs {

/// Makes the policies that a text names, NAME[:OPTION=VALUE]...: "easy", "backfill:depth=4". Errors, kInvalidArgument:
/// no such policy or option; one whose jobs share processors by time, which a queue of parts that have theirs to
/// themselves cannot do; one that cannot serve so many processors.
Result<ZoneQueue::MakePolicy> queue_discipline(std::string_view text, std::int32_t processors);

}  // namespace zbs
