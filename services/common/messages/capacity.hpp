#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs {

/// Home asks a zone what it can give one user. Nothing about the inside of the zone comes back but one aggregate.
struct CapacityRequest {
    Caller user;                        ///< of the asking zone's own organisation
    int processors = 1;                 ///< how many would be used at most
    Duration walltime{};                ///< for how long
    std::vector<ZoneName> zones;        ///< other zones in question: the answer contains the link to each
    std::vector<std::string> groups{};  ///< of the user, as home says: what the zone's account map may look at
    /// What the asking zone has reserved for this application counts as free: could it start earlier?
    std::optional<ApplicationId> without{};
    std::optional<int> share{};  ///< as `PartRequest::share`
    std::string partition{};     ///< as `PartRequest::partition`
    std::optional<StagingNeed> staging{};
    /// The application behind the request, where that has an id: not sent to the other zone, but its calls belong to
    /// one trace.
    std::optional<ApplicationId> application{};
    Duration grace{};  ///< as `PartRequest::grace`
    /// Further questions in the same call. They differ in processors, walltime, `without`, share, partition and grace;
    /// the rest is as above.
    std::vector<CapacityRequest> others{};
    bool operator==(const CapacityRequest&) const = default;
};

struct LinkToZone {
    ZoneName zone;
    Link link;
    bool operator==(const LinkToZone&) const = default;
};

/// What the zone could give if the user's processes started `after` from now, or later up to the next window: so many
/// processors, free for the whole walltime, by what is promised at the time of the answer.
struct StartWindow {
    Duration after{};
    /// When as much may be free if what runs here ends as early as others before it; at most `after`.
    Duration expected{};
    int processors = 0;
    double speed_sum = 0;
    double speed_mean = 0;
    double speed_variance = 0;
    int largest_machine = 0;
    bool operator==(const StartWindow&) const = default;
};

/// What the zone can give this user now; all zero where it gives nothing (unknown user and refused user look the same).
struct Capacity {
    ZoneName zone;
    int processors = 0;        ///< free now for this user
    int total_processors = 0;  ///< that this user could ever get here, free or not
    double speed_sum = 0;      ///< over those processors
    double speed_mean = 0;
    double speed_variance = 0;  ///< an aggregate misleads when a zone is heterogeneous [Prabhakar2003, section 4]
    int largest_machine = 0;    ///< most free processors on one machine
    Link within_zone;
    std::vector<LinkToZone> links;
    /// Later starts, by `after`; none where all that was asked for is free now. What is between two of them is as the
    /// earlier one.
    std::vector<StartWindow> windows{};
    bool queues = false;     ///< parts may wait here until the zone's queue discipline gives them processors
    int max_overcommit = 1;  ///< most ranks that may share a processor here
    /// The answers to `CapacityRequest::others`, in order; zone, links, `queues` and `max_overcommit` are as above.
    std::vector<Capacity> others{};
    bool operator==(const Capacity&) const = default;
};

/// Leaves what a zone that takes no new work now may give later: `total_processors`, and the links.
inline void give_nothing_now(Capacity& capacity) {
    capacity = {.zone = std::move(capacity.zone),
                .total_processors = capacity.total_processors,
                .within_zone = capacity.within_zone,
                .links = std::move(capacity.links),
                .max_overcommit = capacity.max_overcommit,
                .others = std::move(capacity.others)};
}

}  // namespace zbs
