#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "algorithms/queue/processor_calendar.hpp"

namespace zbs {

/// The start of a part whose start is unknown.
inline constexpr Duration kNoStart = Duration::max();

/// A part that waits until the discipline of its zone gives it processors. Times are the zone's steady clock.
struct WaitingPart {
    PartId id;
    std::string party;            ///< whose share of the zone it counts for: an organisation
    Duration since{};             ///< when it came
    std::int32_t processors = 1;  ///< >= 1
    Duration length{};            ///< > 0: from its start on its processors are promised for as long
    /// For policies whose parts share processors or are stopped: 0 is usual; larger goes first.
    std::int32_t priority = 0;
    std::int32_t share = 0;  ///< per cent of each processor that it asks for, at least; 0: as the policy has it
    bool operator==(const WaitingPart&) const = default;
};

/// What keeps a part waiting.
enum class WaitsFor : std::uint8_t {
    kTurn,         ///< the discipline has others before it, or too few processors are free
    kReservation,  ///< enough are free now, but not for as long: they are promised to somebody from a later instant on
    kRight,        ///< its user may not have as many now
};
constexpr auto words_of(WaitsFor) { return std::array{"turn", "reservation", "right"}; }

/// What a part that waits can expect.
struct Outlook {
    PartId id;
    std::size_t place = 0;         ///< 1: first in line
    Duration start = kNoStart;     ///< if nothing ends early and nobody comes in between
    Duration promised = kNoStart;  ///< by the discipline: no later, by what it knows (a backfilling head's shadow time)
    WaitsFor reason = WaitsFor::kTurn;
    bool operator==(const Outlook&) const = default;
};

/// How the parts that run share processors, where the policy has them share.
struct Turns {
    /// Of the slice matrix, in their order: the parts of each. A part may be in several. Where parts have ranks, the
    /// first row goes first. None where parts have shares, or each has processors of its own.
    std::vector<std::vector<PartId>> rows;
    std::map<PartId, std::int32_t> shares;  ///< per cent of each processor
    std::vector<PartId> stopped;            ///< by id: they stay on their processors, and go on there later
    Duration slice{};                       ///< of a row; 0: as the machine has it
    bool operator==(const Turns&) const = default;
};

/// What is to be done now, in this order, and what the others can expect, by place.
struct QueueDecision {
    std::vector<PartId> starts;
    std::vector<Outlook> outlooks;
    /// Where parts share processors: by start, those of which it gets its own. Empty: any that are free.
    std::vector<std::vector<std::int32_t>> places{};
    Turns turns{};                ///< from now on
    Duration wake_at = kNoStart;  ///< the policy has to be asked again by then
    bool operator==(const QueueDecision&) const = default;
};

/// Which processors parts may use now, where that is not all of the zone; by processor. None at all: not now.
using UsableProcessors = std::map<PartId, std::vector<bool>>;

}  // namespace zbs
