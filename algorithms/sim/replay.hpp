#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/mapping.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/trace.hpp"

namespace zbs {

/// What a rank did in a replay; compute_s + blocked_s = end_s.
struct RankTimes {
    double compute_s = 0;  ///< as stretched by its processor's speed and by the tasks that share it
    double blocked_s = 0;  ///< waiting for messages
    double end_s = 0;      ///< when its last event was done; the rest of the run it is idle
    bool operator==(const RankTimes&) const = default;
};

/// Messages over one kind of link.
struct LinkTraffic {
    double messages = 0;
    double bytes = 0;
    bool operator==(const LinkTraffic&) const = default;
};

struct ReplayReport {
    double run_time_s = 0;  ///< when the last rank ended
    bool complete = true;   ///< false where the trace was cut short and some rank waited for what was cut off
    std::vector<RankTimes> ranks;
    LinkTraffic same_processor, within_machine, within_zone;
    std::vector<LinkTraffic> between_zones;  ///< zone_count squared, [a * zones + b] with a < b, both directions
    double unreceived_messages = 0;          ///< sent, but no receive took them
    std::uint64_t events = 0;
    bool operator==(const ReplayReport&) const = default;
};

/// Receives every interval of a replay, rank by rank in time order of that rank.
class ReplayObserver {
  public:
    virtual ~ReplayObserver() = default;
    virtual void computed(std::int32_t rank, double begin_s, double end_s) = 0;
    virtual void blocked(std::int32_t rank, double begin_s, double end_s) = 0;
};

/// Replays a trace on a resource graph under a mapping [Prabhakar2003, section 5.3: its simulator]. A compute block
/// takes its seconds / the processor's speed x the number of tasks on that processor. A send takes no time; its message
/// arrives after delay + bytes / bandwidth of the link between the two processors (at once on the same processor), not
/// before an earlier message of its channel. A receive waits until its message has arrived. Links carry any number of
/// messages at once. A receive from any source takes the message that arrives first (of equals, that of the lower
/// channel). Deterministic. O(events + channels), each receive from any source x log ranks + candidates.
///
/// Errors, kInvalidArgument: the mapping's length is not the trace's, a processor that is not among the resources, a
/// channel or wait out of place, and a deadlock, whose message says who waits for whom. A trace that is not complete
/// ends where it was cut, without an error.
Result<ReplayReport> replay(const Trace& trace, const ResourceGraph& resources, const Mapping& mapping,
                            ReplayObserver* observer = nullptr);

}  // namespace zbs
