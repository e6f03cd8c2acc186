#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/common/messages/application.hpp"
#include "services/common/messages/capacity.hpp"

namespace zbs {

/// What a zone answered when it was asked for capacity, or why it did not.
struct Offer {
    ZoneName zone;
    std::optional<Capacity> capacity;
    std::string refusal;       ///< why it gives nothing now; beside a capacity: what it gives later counts
    bool may_change = false;   ///< silent or busy now; asking again later may help
    bool is_unasked = false;   ///< the request itself leaves it out
    bool is_doubtful = false;  ///< its organisation has lost most of its trust here
    std::string left_out;      ///< not empty: it has failed a launch lately; for people
    /// Ranks that share a processor there. What the capacity says of processors is said of places for ranks.
    int overcommit = 1;
    bool operator==(const Offer&) const = default;
};

/// A plan, and when its parts start.
struct StartChoice {
    ApplicationPlan plan;
    std::optional<Duration> start_in;  ///< none: now
};

/// The level-1 decision as a pure function: which rank goes to which zone [Prabhakar2003, sections 5 and 7].
/// `profile` names where `model` comes from ("request", "none", an id). Without a model (null) ranks go in blocks of
/// consecutive numbers to as few zones as possible. `last`: the zone of each rank in an earlier plan, which `auto`
/// keeps as `map_to_zones` says; empty: none. Errors: kRejected where the offers can never hold the ranks; kUnavailable
/// where they are only busy or away now (the message says how many are free).
Result<ApplicationPlan> make_plan(const ApplicationRequest& request, const ApplicationModel* model,
                                  const std::string& profile, std::span<const Offer> offers,
                                  std::span<const ZoneName> last = {});

/// An offer of places for ranks, where the user and the zone let as many as the less of both have a processor.
void count_ranks(Offer& offer, int overcommit);

/// Whether `make_plan` takes a few milliseconds at most: it has no clusters to find, or few ranks and pairs.
bool is_quick_to_plan(const ApplicationRequest& request, const ApplicationModel* model);

/// `make_plan`'s errors where the offers do not hold the ranks.
Result<void> check_room(const ApplicationRequest& request, std::span<const Offer> offers);

/// Takes the offers of zones that have failed a launch (`left_out`) away. False, and nothing is done, where the others
/// could never hold so many.
bool leave_out_failed(std::vector<Offer>& offers, int ranks);

/// The same offers without those of doubtful zones; nothing where none of them gives anything, so that it would make no
/// difference.
std::vector<Offer> offers_without_doubt(std::span<const Offer> offers);

/// The same offers for a start `after` from the time of the answers on: the processors announced as free are free then.
std::vector<Offer> offers_at(std::span<const Offer> offers, Duration after);

/// When a start may be, from now.
struct StartRange {
    Duration from{}, to{};
};
/// The earliest start later than now at which the offers together hold `ranks`, in `range`; none where there is no such
/// start. O(windows log windows + windows x zones).
std::optional<Duration> earliest_common_start(int ranks, std::span<const Offer> offers, StartRange range);

/// A zone that could take all ranks into its queue.
struct QueueOffer {
    ZoneName zone;
    std::optional<Duration> start;  ///< what can be expected; none: not known
};
/// The one that can be expected to start them first; none where no zone with a queue may ever hold so many.
std::optional<QueueOffer> best_queue(int ranks, std::span<const Offer> offers);
/// The same offers as they are for who waits in that zone's queue: all that the user may ever have there, and nothing
/// elsewhere. Precondition: the zone is among them and has a queue.
std::vector<Offer> offers_of_queue(std::span<const Offer> offers, const ZoneName& zone);
/// Whether one zone has all ranks in the plan, and a queue.
bool is_for_one_queue(const ApplicationPlan& plan, std::span<const Offer> offers);

/// Sets for every zone of the plan when it may start its share, by its offer: `ZoneVerdict::start`.
void set_starts(ApplicationPlan& plan, int ranks, std::span<const Offer> offers);

/// The share of `zone` in a planned application: its tasks, the edges among them, and the traffic to other parts summed
/// by zone.
PartRequest make_part(const Application& application, const ApplicationModel* model, const ApplicationPart& part,
                      const ZoneName& home);

/// The mapper that puts ranks in blocks of consecutive numbers.
inline constexpr const char* kBlocks = "block";
/// An error with all names where `make_plan` does not know the level-1 mapper.
Result<void> check_plan_mapper(const std::string& name);

}  // namespace zbs
