#include "services/zone_scheduler/home/planner.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "algorithms/base/rng.hpp"
#include "algorithms/base/text.hpp"
#include "algorithms/mapping/level1_mappers.hpp"
#include "algorithms/mapping/mapper.hpp"

namespace zbs {
namespace {

constexpr const char* kRoundRobin = "round-robin";
constexpr const char* kRandom = "random";
/// So many are mapped within about 2 ms: 100 ranks with 764 pairs take 15.
constexpr int kQuickRanks = 64;
constexpr std::size_t kQuickPairs = 128;

/// Zones that offer something, in the words of the level-1 mapper.
struct Aggregates {
    std::vector<ZoneAggregate> zones;
    std::vector<Link> between;  // zone_count squared
};

/// No zone counts for more processors than the application has ranks, nor for more than all together may have: what one
/// zone claims does not keep a plan from being made.
Aggregates aggregate(int ranks, std::span<const Offer> offers) {
    Aggregates out;
    std::vector<const Capacity*> given;
    for (const Offer& offer : offers)
        if (offer.capacity && offer.capacity->processors > 0) given.push_back(&*offer.capacity);
    const int most =
        std::min(ranks, static_cast<int>(ResourceGraph::kMaxProcessors / std::max<std::size_t>(given.size(), 1)));
    for (const Capacity* c : given) {
        const int processors = std::min(c->processors, most);
        const double share = static_cast<double>(processors) / c->processors;
        out.zones.push_back({c->zone, processors, c->speed_sum * share, c->speed_mean, c->speed_variance,
                             std::min(c->largest_machine, processors), c->within_zone});
    }
    for (const Capacity* a : given) {
        for (const Capacity* b : given) {
            Link link = ResourceGraph::kDefaultZoneLink;
            if (a == b) link = a->within_zone;
            const auto announced =
                std::find_if(a->links.begin(), a->links.end(), [&](const LinkToZone& l) { return l.zone == b->zone; });
            if (a != b && announced != a->links.end()) link = announced->link;
            out.between.push_back(link);
        }
    }
    // Each end reports its own view; a plan needs one: the worse of the two.
    const std::size_t n = given.size();
    for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = a + 1; b < n; ++b) {
            Link& ab = out.between[a * n + b];
            Link& ba = out.between[b * n + a];
            ab = {std::max(ab.delay_s, ba.delay_s), std::min(ab.bandwidth_Bps, ba.bandwidth_Bps)};
            ba = ab;
        }
    }
    return out;
}

std::vector<std::int32_t> deal(int ranks, const Aggregates& aggregates, Rng* rng) {
    std::vector<std::int32_t> slots;
    if (rng != nullptr) {
        for (std::size_t z = 0; z < aggregates.zones.size(); ++z) {
            slots.insert(slots.end(), static_cast<std::size_t>(aggregates.zones[z].processors),
                         static_cast<std::int32_t>(z));
        }
        rng->shuffle(slots);
    } else {  // one rank to each zone in turn, as long as it has room
        for (int layer = 0; static_cast<int>(slots.size()) < ranks; ++layer) {
            for (std::size_t z = 0; z < aggregates.zones.size(); ++z) {
                if (layer < aggregates.zones[z].processors) slots.push_back(static_cast<std::int32_t>(z));
            }
        }
    }
    slots.resize(static_cast<std::size_t>(ranks));
    return slots;
}

/// The zones of an earlier plan by their numbers; empty where one of them offers nothing now.
std::vector<std::int32_t> numbers_of(std::span<const ZoneName> last, const Aggregates& aggregates, int ranks) {
    if (last.size() != static_cast<std::size_t>(ranks)) return {};
    std::map<ZoneName, std::int32_t> number_of;
    for (const ZoneAggregate& zone : aggregates.zones)
        number_of.emplace(zone.name, static_cast<std::int32_t>(number_of.size()));
    std::vector<std::int32_t> numbers;
    for (const ZoneName& zone : last) {
        const auto found = number_of.find(zone);
        if (found == number_of.end()) return {};
        numbers.push_back(found->second);
    }
    return numbers;
}

Error too_many_ranks(const ApplicationRequest& request, std::int64_t held, const std::string& refusals) {
    const bool only_here = needs_own_zone(request.launcher);
    return {
        ErrorCode::kRejected,
        "the application needs " + std::to_string(request.ranks) +
            (request.overcommit > 1 ? " places for ranks, but " : " processors, but ") +
            (only_here
                 ? std::string("launcher ") + to_string(request.launcher) + " works in the home zone only, which holds "
                 : "all zones that accept it hold ") +
            std::to_string(held) + (request.partition.empty() ? "" : " in a partition '" + request.partition + "'") +
            "; ask for fewer ranks" +
            (only_here ? ", submit to a larger zone, or build the program with MPICH, whose launcher works over "
                         "several zones"
                       : " or for more zones") +
            refusals,
        {}};
}

/// Of a zone that has a processor for fewer ranks than asked for, for people; else empty.
std::string why_fewer(const ApplicationRequest& request, const Offer& offer) {
    if (!offer.capacity || offer.overcommit == request.overcommit) return {};
    return "puts at most " + std::to_string(offer.overcommit) + " of the ranks on a processor, not " +
           std::to_string(request.overcommit) + " (its operator may raise 'max_overcommit')";
}

/// When the zone may start as many ranks as it has in the plan, or could take.
std::optional<ZoneVerdict::StartRange> start_range(const Capacity& capacity, int ranks) {
    if (ranks <= 0) return std::nullopt;
    if (capacity.processors >= ranks) return ZoneVerdict::StartRange{};
    for (const StartWindow& window : capacity.windows)
        if (window.processors >= ranks) return ZoneVerdict::StartRange{window.expected, window.after};
    return std::nullopt;
}

/// What became of each offer in a plan with so many ranks in each zone.
std::vector<ZoneVerdict> verdicts_of(const ApplicationRequest& request, std::span<const Offer> offers,
                                     const std::map<ZoneName, int>& placed) {
    std::vector<ZoneVerdict> verdicts;
    for (const Offer& offer : offers) {
        ZoneVerdict verdict{.zone = offer.zone,
                            .processors = offer.capacity ? offer.capacity->processors / offer.overcommit : 0,
                            .ranks = placed.contains(offer.zone) ? placed.at(offer.zone) : 0,
                            .reason = offer.refusal,
                            .overcommit = offer.overcommit};
        if (offer.capacity && verdict.ranks == 0 && verdict.reason.empty()) {
            verdict.reason = offer.capacity->total_processors == 0 && !request.partition.empty()
                                 ? "gives this user nothing in a partition '" + request.partition +
                                       "': it has none of that name, or no account or right for her there"
                             : offer.capacity->total_processors == 0
                                 ? "gives this user nothing: no account or right for her there; ask its operator"
                             : verdict.processors == 0
                                 ? "gives this user no processor now: all in use, or outside the hours or limits agreed"
                                 : "not needed: the others hold all ranks at less cost";
        }
        if (verdict.reason.empty()) verdict.reason = why_fewer(request, offer);
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

}  // namespace

void count_ranks(Offer& offer, int overcommit) {
    if (!offer.capacity) return;
    Capacity& c = *offer.capacity;
    offer.overcommit = std::min(overcommit, c.max_overcommit);
    const int k = offer.overcommit;
    const auto times_k = [k](int& processors) {
        processors = std::min(processors, ResourceGraph::kMaxProcessors / k) * k;
    };
    const auto divide = [&](auto& one) {
        times_k(one.processors);
        times_k(one.largest_machine);
        one.speed_mean /= k;
        one.speed_variance /= static_cast<double>(k) * k;
    };
    times_k(c.total_processors);
    divide(c);
    std::ranges::for_each(c.windows, divide);
}

bool is_quick_to_plan(const ApplicationRequest& request, const ApplicationModel* model) {
    const bool is_simple = request.mapper == kBlocks || request.mapper == kRoundRobin || request.mapper == kRandom;
    if (is_simple || model == nullptr) return true;
    return request.ranks <= kQuickRanks && model->graph.edge_count() <= kQuickPairs;
}

Result<void> check_room(const ApplicationRequest& request, std::span<const Offer> offers) {
    const int ranks = request.ranks;
    std::int64_t free = 0, total = 0;
    bool silent = false;
    std::string refusals, unasked, fewer;
    for (const Offer& offer : offers) {
        if (offer.capacity) {
            free += offer.capacity->processors;
            total += offer.capacity->total_processors;
        }
        if (const std::string why = why_fewer(request, offer); !why.empty()) fewer += "; " + offer.zone + ": " + why;
        if (!offer.refusal.empty()) {
            silent = silent || offer.may_change;
            (offer.is_unasked ? unasked : refusals) += "; " + offer.zone + ": " + offer.refusal;
        }
    }
    if (free >= ranks) return {};
    const std::string& reasons = refusals.empty() ? unasked : refusals;  // others would hide the reason
    // Of zones that do not exist, or accept nobody, fewer ranks would not help.
    if (total == 0 && !silent && !reasons.empty())
        return Error{ErrorCode::kRejected, "no zone takes the application: " + reasons.substr(2), {}};
    if (total < ranks && !silent)
        return too_many_ranks(request, total, (needs_own_zone(request.launcher) ? refusals : reasons) + fewer);
    return Error{ErrorCode::kUnavailable,
                 "waiting for processors: " + std::to_string(free) + " of " + std::to_string(ranks) +
                     (request.overcommit > 1 ? " places for ranks are free" : " are free") + reasons,
                 {}};
}

bool leave_out_failed(std::vector<Offer>& offers, int ranks) {
    std::int64_t others = 0;
    for (const Offer& offer : offers)
        if (offer.capacity && offer.left_out.empty()) others += offer.capacity->total_processors;
    if (others < ranks) return false;
    for (Offer& offer : offers)
        if (!offer.left_out.empty()) offer = {offer.zone, {}, offer.left_out, true};
    return true;
}

std::vector<Offer> offers_without_doubt(std::span<const Offer> offers) {
    const auto is_left_out = [](const Offer& offer) {
        return offer.is_doubtful && offer.capacity && offer.capacity->processors > 0;
    };
    if (std::none_of(offers.begin(), offers.end(), is_left_out)) return {};
    std::vector<Offer> rest(offers.begin(), offers.end());
    for (Offer& offer : rest) {
        if (!is_left_out(offer)) continue;
        offer = {offer.zone,
                 {},
                 "its organisation has broken its word; used only where the others have too little room",
                 true};
    }
    return rest;
}

std::vector<Offer> offers_at(std::span<const Offer> offers, Duration after) {
    std::vector<Offer> then(offers.begin(), offers.end());
    for (Offer& offer : then) {
        if (!offer.capacity) continue;
        Capacity& c = *offer.capacity;
        for (const StartWindow& window : c.windows) {
            if (window.after > after) break;
            c.processors = window.processors;
            c.speed_sum = window.speed_sum;
            c.speed_mean = window.speed_mean;
            c.speed_variance = window.speed_variance;
            c.largest_machine = window.largest_machine;
        }
    }
    return then;
}

std::optional<QueueOffer> best_queue(int ranks, std::span<const Offer> offers) {
    std::optional<QueueOffer> best;
    for (const Offer& offer : offers) {
        if (!offer.capacity || !offer.capacity->queues || offer.capacity->total_processors < ranks) continue;
        const std::optional<ZoneVerdict::StartRange> range = start_range(*offer.capacity, ranks);
        QueueOffer queue{offer.zone, range ? std::optional(range->to) : std::nullopt};
        const bool earlier = queue.start && (!best || !best->start || *queue.start < *best->start);
        if (!best || earlier) best = std::move(queue);
    }
    return best;
}

std::vector<Offer> offers_of_queue(std::span<const Offer> offers, const ZoneName& zone) {
    std::vector<Offer> alone(offers.begin(), offers.end());
    for (Offer& offer : alone) {
        if (!offer.capacity) continue;
        Capacity& c = *offer.capacity;
        const bool chosen = offer.zone == zone;
        ZBS_EXPECTS(!chosen || c.queues);
        double speed = c.speed_mean;
        for (const StartWindow& window : c.windows)
            if (!(speed > 0)) speed = window.speed_mean;
        if (!(speed > 0)) speed = 1;  // not announced: only zones beside each other would be compared by it
        c.processors = c.largest_machine = chosen ? c.total_processors : 0;
        c.speed_mean = speed;
        c.speed_variance = 0;
        c.speed_sum = speed * c.processors;
    }
    return alone;
}

bool is_for_one_queue(const ApplicationPlan& plan, std::span<const Offer> offers) {
    const auto used = [](const ZoneVerdict& verdict) { return verdict.ranks > 0; };
    if (std::count_if(plan.zones.begin(), plan.zones.end(), used) != 1) return false;
    const auto zone = std::find_if(plan.zones.begin(), plan.zones.end(), used);
    return std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
        return offer.zone == zone->zone && offer.capacity && offer.capacity->queues;
    });
}

void set_starts(ApplicationPlan& plan, int ranks, std::span<const Offer> offers) {
    for (ZoneVerdict& verdict : plan.zones) {
        const auto offer = std::find_if(offers.begin(), offers.end(),
                                        [&](const Offer& o) { return o.zone == verdict.zone && o.capacity; });
        if (offer == offers.end()) continue;
        const int share = verdict.ranks > 0 ? verdict.ranks : std::min(ranks, offer->capacity->total_processors);
        verdict.start = start_range(*offer->capacity, share);
    }
}

std::optional<Duration> earliest_common_start(int ranks, std::span<const Offer> offers, StartRange range) {
    std::vector<std::pair<Duration, int>> steps;  // when, how many more or fewer are free from then on
    std::int64_t free = 0;
    for (const Offer& offer : offers) {
        if (!offer.capacity) continue;
        free += offer.capacity->processors;
        int before = offer.capacity->processors;
        for (const StartWindow& window : offer.capacity->windows) {
            steps.emplace_back(window.after, window.processors - before);
            before = window.processors;
        }
    }
    std::sort(steps.begin(), steps.end());
    for (std::size_t i = 0; i < steps.size() && steps[i].first <= range.to; ++i) {
        free += steps[i].second;
        const Duration start = std::max(steps[i].first, range.from);
        const bool is_before_next = i + 1 == steps.size() || steps[i + 1].first > start;
        if (is_before_next && free >= ranks && start > Duration{0} && start <= range.to) return start;
    }
    return std::nullopt;
}

Result<void> check_plan_mapper(const std::string& name) {
    std::vector<std::string> names;
    for (const std::string_view each : level1_names()) names.emplace_back(each);
    names.insert(names.end(), {kRoundRobin, kRandom});
    if (std::find(names.begin(), names.end(), name) != names.end()) return {};
    return invalid("must be one of " + joined(names, ", "), "/mapper");
}

Result<ApplicationPlan> make_plan(const ApplicationRequest& request, const ApplicationModel* model,
                                  const std::string& profile, std::span<const Offer> offers,
                                  std::span<const ZoneName> last) {
    if (auto room = check_room(request, offers); !room) return room.error();
    const Aggregates aggregates = aggregate(request.ranks, offers);
    const MapOptions options{.seed = request.seed, .max_tasks_per_processor = 1};
    const Result<std::vector<std::int32_t>> blocks = place_blocks(request.ranks, aggregates.zones, options);
    if (!blocks) return blocks.error();
    const std::vector<std::int32_t> dealt = deal(request.ranks, aggregates, nullptr);

    ApplicationPlan plan;
    plan.profile = profile;
    std::vector<std::int32_t> zone_of_task;
    const bool is_dealt = request.mapper == kRoundRobin || request.mapper == kRandom;
    if (model && !is_dealt) {
        Result<ZonePlan> zones = map_to_zones(request.mapper, model->graph, aggregates.zones, aggregates.between,
                                              options, numbers_of(last, aggregates, request.ranks));
        if (!zones) return zones.error();
        zone_of_task = zones->zone_of_task;
        plan.clusters = zones->clusters;
        for (const std::int32_t z : zones->zone_of_cluster)
            plan.zone_of_cluster.emplace_back(aggregates.zones[static_cast<std::size_t>(z)].name);
    } else {
        Rng rng(request.seed);
        zone_of_task = request.mapper == kRoundRobin ? dealt
                       : request.mapper == kRandom   ? deal(request.ranks, aggregates, &rng)
                                                     : *blocks;
        // Without a clustering the share of each zone is the only cluster.
        std::map<std::int32_t, std::vector<TaskIndex>> share;
        for (std::size_t t = 0; t < zone_of_task.size(); ++t)
            share[zone_of_task[t]].push_back(static_cast<TaskIndex>(t));
        for (auto& [z, tasks] : share) {
            plan.clusters.push_back(std::move(tasks));
            plan.zone_of_cluster.emplace_back(aggregates.zones[static_cast<std::size_t>(z)].name);
        }
    }
    std::map<ZoneName, int> placed;
    for (const std::int32_t z : zone_of_task) {
        plan.zone_of_rank.emplace_back(aggregates.zones[static_cast<std::size_t>(z)].name);
        ++placed[plan.zone_of_rank.back()];
    }
    plan.zones = verdicts_of(request, offers, placed);
    if (model) {
        plan.crossing_bytes = inter_zone_bytes(model->graph, zone_of_task);
        plan.crossing_bytes_block = inter_zone_bytes(model->graph, *blocks);
        plan.crossing_bytes_round_robin = inter_zone_bytes(model->graph, dealt);
    }
    return plan;
}

PartRequest make_part(const Application& application, const ApplicationModel* model, const ApplicationPart& part,
                      const ZoneName& home) {
    PartRequest request{.id = part.id,
                        .application = application.request.id,
                        .user = application.owner,
                        .home = home,
                        .ranks = part.ranks};
    request.walltime = application.request.walltime;
    request.seed = application.request.seed;
    request.queued = part.queued;
    request.priority = application.request.priority;
    request.share = application.request.share;
    request.partition = application.request.partition;
    request.grace = application.request.grace;
    request.overcommit = part.overcommit;
    Result<TaskGraph> graph = TaskGraph::make(std::vector<double>(part.ranks.size(), 1.0), {});
    ZBS_EXPECTS(graph.has_value());
    request.graph = model ? subgraph(model->graph, part.ranks) : *std::move(graph);
    std::map<ZoneName, PartRequest::Outside> outside;
    const std::vector<ZoneName>& zone_of_rank = application.status.plan->zone_of_rank;
    for (const TaskIndex rank : model ? part.ranks : std::vector<TaskIndex>{}) {
        for (const TaskGraph::Neighbour& n : model->graph.neighbours(rank)) {
            const ZoneName& zone = zone_of_rank[static_cast<std::size_t>(n.task)];
            if (zone == part.zone) continue;
            PartRequest::Outside& sum = outside[zone];
            sum.zone = zone;
            sum.bytes += n.bytes;
            sum.messages += n.messages;
        }
    }
    const auto is_elsewhere = [&](const ZoneName& zone) { return zone != part.zone; };
    if (const auto other = std::ranges::find_if(zone_of_rank, is_elsewhere);
        outside.empty() && other != zone_of_rank.end())
        outside[*other].zone = *other;
    for (auto& [zone, sum] : outside) request.outside.push_back(std::move(sum));
    return request;
}

}  // namespace zbs
