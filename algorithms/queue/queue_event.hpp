#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/model/zone_state.hpp"
#include "algorithms/queue/queue_types.hpp"

/// What happens to the queue of a zone, in the words of its log. Times are the zone's steady clock.
namespace zbs {

/// Nine years: no time in a log is further from zero, so that sums over a whole queue stay in range.
inline constexpr Duration kMaxQueueTime{std::int64_t{1} << 48};

/// A life of the zone begins; its queue is empty.
struct QueueOpened {
    std::int32_t processors = 1;
    std::int32_t rows = 1;  ///< each of so many of the processors
    bool operator==(const QueueOpened&) const = default;
};
/// From the next decision on; text as for `queue_discipline`.
struct DisciplineChosen {
    std::string discipline;
    bool operator==(const DisciplineChosen&) const = default;
};
struct PartWaits {
    WaitingPart part;
    bool operator==(const PartWaits&) const = default;
};
struct PartLeaves {
    PartId id;
    bool operator==(const PartLeaves&) const = default;
};
struct ProcessorsPromised {
    PartId id;
    std::string party;
    ProcessorCalendar::Promise promise;
    Duration at{};
    bool operator==(const ProcessorsPromised&) const = default;
};
struct PromiseEnded {
    PartId id;
    Duration at{};
    bool operator==(const PromiseEnded&) const = default;
};
struct WeightSet {
    std::string party;
    double weight = 1;
    bool operator==(const WeightSet&) const = default;
};
struct Decided {
    Duration at{};
    UsableProcessors usable;
    QueueDecision decision;
    bool operator==(const Decided&) const = default;
};
/// What the policy of a queue sees: a `ZoneState` of parts.
struct QueueView {
    struct Known {
        PartId id;
        JobRecord record;
        bool operator==(const Known&) const = default;
    };
    struct Slots {
        PartId id;
        std::vector<std::int32_t> processors;
        bool is_alternative = false;
        bool operator==(const Slots&) const = default;
    };
    std::vector<Known> parts;              ///< that wait or run
    std::vector<std::vector<Slots>> rows;  ///< of the slice matrix, where there is one
    std::optional<FoundLoad> load;
    std::vector<PartId> stopped;
    Duration slice{};
    std::int64_t next_number = 0;  ///< of a part that comes next, likewise its place
    std::uint64_t next_arrival = 0;
    bool operator==(const QueueView&) const = default;
};
/// The effect of earlier files of the log, after the events for waiting parts and promises: the rest that later
/// decisions depend on. Use as of `at`.
struct QueueContinued {
    Duration at{};
    std::map<std::string, double> used;  ///< processors x seconds of an organisation, faded
    QueueView view;
    bool operator==(const QueueContinued&) const = default;
};
using QueueEvent = std::variant<QueueOpened, DisciplineChosen, PartWaits, PartLeaves, ProcessorsPromised, PromiseEnded,
                                WeightSet, Decided, QueueContinued>;

}  // namespace zbs
