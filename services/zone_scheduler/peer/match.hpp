#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/queue/queue_types.hpp"
#include "services/common/messages/part.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// A part of a workload. Times count from the start of the workload, 00:00 UTC of a Monday.
struct MatchPart {
    std::string name;
    OrganisationName organisation;
    int ranks = 1;
    Duration walltime{};
    Duration runtime{};   ///< until its processes end by themselves: above 0, at most the walltime
    Duration submit{};    ///< 0 or more
    Duration start_in{};  ///< a reservation for a start this long after its submission; 0: it waits in the queue
};

/// The answer of the zone to one part.
struct Match {
    std::vector<std::int32_t> processors{};  ///< by rank, counted over all machines; none where the zone gives none
    std::vector<RankPlace> places{};         ///< the same by name of machine
    std::optional<Duration> start{};         ///< none: it is refused, or it never starts
    std::optional<Duration> end{};
    std::optional<WaitsFor> waits_for{};  ///< at its submission; none: it starts at once, is reserved or refused
    std::string refused{};                ///< the reason
};

/// Runs the queue and the placement of a zone over a workload, in virtual time and without a zone: by part, in the
/// order of `parts`. Homes commit and launch at once, every user has an account, and nothing else is on the machines.
/// The organisation of the zone has all of it; another one has what the first fitting rule of the zone gives at its
/// initial trust. Parts that come at the same instant come in the order of `parts`, with a decision for each.
///
/// Decisions are those of `PartService` at the same instants. That one decides anew at the poll after a launch, and
/// each second. Here the one after a launch comes at once, and a second passes between two others that differ. While
/// enough processors are free for a part that waits, the pause grows to a fraction of the time since the last event:
/// 1/16 where there are several organisations, half of it where there is one. A start that comes with time alone, as by
/// the fair order of organisations, is so much later at most.
///
/// Precondition: the zone has processors, one row of them, and at least as many as each part has ranks. Errors:
/// `queue_discipline`'s for `config.queue`.
Result<std::vector<Match>> match_parts(const ZoneConfig& config, const std::vector<MatchPart>& parts);

}  // namespace zbs
