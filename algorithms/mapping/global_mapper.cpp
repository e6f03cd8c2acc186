#include "algorithms/mapping/global_mapper.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "algorithms/base/expects.hpp"
#include "algorithms/graph/shortest_path_clustering.hpp"

namespace zbs {
namespace {

constexpr double kSame = 1e-12;  // relative; sums in another order differ by less
constexpr double kLess = 1 - 1e-9;
constexpr std::size_t kMaxCandidates = 16;  // tasks tried at one bottleneck
constexpr std::size_t kMaxHomes = 4;        // neighbours whose place is tried
constexpr int kCheaperPasses = 3;           // over all tasks, for less link time at the same occupancy
// Visits of arcs that improvement may take, and more for every edge.
constexpr std::int64_t kImproveWork = 10'000'000, kImproveWorkOfEdge = 10;

/// Seconds for the traffic from one processor to those after it, if it spreads over every link that leads there as they
/// can carry it in parallel. [Prabhakar2003, section 4.4.1 says "communication capacity between the current processor
/// and the remaining ones"; how several links add up is left open there.]
class OutwardLinks {
  public:
    OutwardLinks(const OccupancyState& state, ProcessorIndex processor) {
        const ResourceGraph& resources = state.resources();
        const ProcessorPlace& here = resources.place(processor);
        const Zone& zone = resources.zones()[static_cast<std::size_t>(here.zone)];
        const auto machine = static_cast<std::size_t>(here.machine);
        if (here.processor + 1 < zone.machines[machine].processors) links_.push_back(zone.within_machine);
        if (machine + 1 < zone.machines.size()) links_.push_back(zone.within_zone);
        for (std::int32_t z = here.zone + 1; z < resources.zone_count(); ++z)
            links_.push_back(resources.zone_link(here.zone, z));
    }
    double seconds(double bytes, double messages, double steps) const {
        double rate = 0;
        for (const Link& link : links_) {
            const double alone = link_seconds(link, bytes, messages, steps);
            if (alone <= 0) return 0;
            rate += 1 / alone;
        }
        return rate > 0 ? 1 / rate : 0;
    }

  private:
    std::vector<Link> links_;
};

/// Sums and maxima over the tail of a list: result[i] covers items i, i+1, ....
template <class Combine>
std::vector<double> suffix(std::vector<double> values, Combine combine) {
    values.push_back(0);
    for (std::size_t i = values.size() - 1; i-- > 0;) values[i] = combine(values[i], values[i + 1]);
    return values;
}

/// Traffic between assigned and unassigned tasks.
struct Frontier {
    double bytes = 0;
    double messages = 0;
    /// `sign` 1 just after a task was assigned, -1 just before it is taken back.
    void cross(const OccupancyState& state, TaskIndex task, double sign) {
        for (const TaskGraph::Neighbour& n : state.graph().neighbours(task)) {
            const double change = state.processor_of(n.task) == OccupancyState::kUnassigned ? sign : -sign;
            bytes += change * n.bytes;
            messages += change * n.messages;
        }
        bytes = std::max(0.0, bytes);
        messages = std::max(0.0, messages);
    }
};

/// Occupancy, then how many resources reach it.
struct Standing {
    double occupancy;
    std::size_t at_top;
};
Standing standing_at(const OccupancyState& state, double top) {
    const double occupancy = state.occupancy();
    return {occupancy, occupancy > 0 ? state.resources_at_least(top * kLess) : 0};
}

class Improver {
  public:
    Improver(OccupancyState& state, const MapOptions& options)
        : state_(state),
          options_(options),
          work_(kImproveWork + kImproveWorkOfEdge * static_cast<std::int64_t>(state.graph().edge_count())) {}

    bool step() {
        const double top = state_.occupancy();
        if (top <= 0 || work_ <= 0) return false;
        work_ -= state_.graph().task_count() + 2 * static_cast<std::int64_t>(state_.graph().edge_count());
        const std::size_t bottleneck = state_.bottleneck();
        const Standing before = standing_at(state_, top);
        survey();
        for (const TaskIndex task : users_of(bottleneck)) {
            for (const ProcessorIndex target : targets_of(task)) {
                if (try_move(task, target, before, top)) return true;
            }
        }
        return false;
    }

    /// Of mappings of the same occupancy the one of less link time is better. Every task is tried once, inside its
    /// zone: which zone it is in is for the walk to decide, as in the thesis.
    bool lower_link_time() {
        bool moved = false;
        survey();
        for (TaskIndex task = 0; task < state_.graph().task_count() && work_ > 0; ++task) {
            const std::int32_t zone = zone_of(state_.processor_of(task));
            for (const ProcessorIndex target : targets_of(task)) {
                if (zone_of(target) != zone || !move_for_link_time(task, target)) continue;
                moved = true;
                break;
            }
        }
        return moved;
    }

  private:
    std::int32_t zone_of(ProcessorIndex p) const { return state_.resources().place(p).zone; }
    void charge(TaskIndex task) { work_ -= 8 + 2 * static_cast<std::int64_t>(state_.graph().neighbours(task).size()); }
    /// Seconds per step of all links to the task's neighbours; pairs with `except` count nothing.
    double link_time(TaskIndex task, TaskIndex except = -1) const {
        const ProcessorIndex here = state_.processor_of(task);
        double sum = 0;
        for (const TaskGraph::Neighbour& n : state_.graph().neighbours(task)) {
            const ProcessorIndex there = state_.processor_of(n.task);
            if (there == here || n.task == except) continue;
            sum += link_seconds(state_.resources().link(here, there), n.bytes, n.messages, state_.steps());
        }
        return sum;
    }
    void swap(TaskIndex task, TaskIndex other) {
        const ProcessorIndex here = state_.processor_of(task), there = state_.processor_of(other);
        charge(task);
        charge(other);
        state_.unassign(task);
        state_.move(other, here);
        state_.assign(task, there);
    }
    bool move_for_link_time(TaskIndex task, ProcessorIndex target) {
        const ProcessorIndex here = state_.processor_of(task);
        const double top = state_.occupancy();
        std::vector<TaskIndex>& there = tasks_on_[static_cast<std::size_t>(target)];
        std::vector<TaskIndex>& mine = tasks_on_[static_cast<std::size_t>(here)];
        if (has_room(target)) {
            const double before = link_time(task);
            charge(task);
            state_.move(task, target);
            if (state_.occupancy() <= top && link_time(task) < before * kLess) {
                std::erase(mine, task);
                there.push_back(task);
                return true;
            }
            state_.move(task, here);
            return false;
        }
        for (std::size_t i = 0; i < std::min(there.size(), kMaxCandidates) && work_ > 0; ++i) {
            const TaskIndex other = there[i];
            // The link between the two is the same before and after.
            const double before = link_time(task, other) + link_time(other, task);
            swap(task, other);
            if (state_.occupancy() <= top && link_time(task, other) + link_time(other, task) < before * kLess) {
                there[i] = task;
                std::ranges::replace(mine, task, other);
                return true;
            }
            swap(task, other);
        }
        return false;
    }

    void survey() {
        tasks_on_.assign(static_cast<std::size_t>(state_.resources().processor_count()), {});
        for (TaskIndex t = 0; t < state_.graph().task_count(); ++t)
            tasks_on_[static_cast<std::size_t>(state_.processor_of(t))].push_back(t);
        idlest_.assign(static_cast<std::size_t>(state_.resources().zone_count()), -1);
        for (ProcessorIndex p = 0; p < state_.resources().processor_count(); ++p) {
            if (!has_room(p)) continue;
            ProcessorIndex& best = idlest_[static_cast<std::size_t>(state_.resources().place(p).zone)];
            if (best < 0 || key(p) < key(best)) best = p;
        }
    }
    bool has_room(ProcessorIndex p) const { return state_.tasks_on(p) < options_.slots(1); }
    std::pair<double, double> key(ProcessorIndex p) const {
        return {state_.processor_load(p), -state_.resources().speed(p)};
    }

    /// The tasks that load the bottleneck most.
    std::vector<TaskIndex> users_of(std::size_t bottleneck) const {
        std::vector<std::pair<double, TaskIndex>> users;
        for (TaskIndex t = 0; t < state_.graph().task_count(); ++t) {
            const double share = state_.contribution(t, bottleneck);
            if (share > 0) users.emplace_back(-share, t);
        }
        const std::size_t count = std::min(users.size(), kMaxCandidates);
        std::partial_sort(users.begin(), users.begin() + static_cast<std::ptrdiff_t>(count), users.end());
        std::vector<TaskIndex> tasks;
        for (std::size_t i = 0; i < count; ++i) tasks.push_back(users[i].second);
        return tasks;
    }

    /// Where a task could go and stay close to what it talks to: its strongest neighbours' processors, the idlest
    /// processor of their zones, its own zone's, and last any zone's.
    std::vector<ProcessorIndex> targets_of(TaskIndex task) const {
        const ProcessorIndex here = state_.processor_of(task);
        std::vector<std::pair<double, TaskIndex>> ties;
        for (const TaskGraph::Neighbour& n : state_.graph().neighbours(task)) {
            ties.emplace_back(-link_seconds(ResourceGraph::kDefaultZoneLink, n.bytes, n.messages, state_.steps()),
                              n.task);
        }
        const std::size_t count = std::min(ties.size(), kMaxHomes);
        std::partial_sort(ties.begin(), ties.begin() + static_cast<std::ptrdiff_t>(count), ties.end());
        std::vector<ProcessorIndex> targets;
        const auto add = [&](ProcessorIndex p) {
            if (p >= 0 && p != here && std::ranges::find(targets, p) == targets.end()) targets.push_back(p);
        };
        for (std::size_t i = 0; i < count; ++i) {
            const ProcessorIndex home = state_.processor_of(ties[i].second);
            const std::int32_t zone = state_.resources().place(home).zone;
            add(home);
            add(idlest_[static_cast<std::size_t>(zone)]);
            // Beside a neighbour: the processors of its zone around it, for swaps where every processor is taken.
            const ProcessorIndex first = state_.resources().first_processor_of_zone(zone);
            const ProcessorIndex last = first + state_.resources().processors_in_zone(zone) - 1;
            for (ProcessorIndex p = std::max(first, home - 2); p <= std::min(last, home + 2); ++p) add(p);
        }
        add(idlest_[static_cast<std::size_t>(state_.resources().place(here).zone)]);
        ProcessorIndex idlest = -1;
        for (const ProcessorIndex p : idlest_) {
            if (p >= 0 && (idlest < 0 || key(p) < key(idlest))) idlest = p;
        }
        add(idlest);
        return targets;
    }

    bool try_move(TaskIndex task, ProcessorIndex target, const Standing& before, double top) {
        const ProcessorIndex here = state_.processor_of(task);
        charge(task);
        if (has_room(target)) {
            state_.move(task, target);
            if (better(before, top)) return true;
            state_.move(task, here);
            return false;
        }
        for (const TaskIndex other : tasks_on_[static_cast<std::size_t>(target)]) {
            if (work_ <= 0) return false;
            swap(task, other);
            if (better(before, top)) return true;
            swap(task, other);
        }
        return false;
    }
    bool better(const Standing& before, double top) const {
        if (state_.occupancy() < before.occupancy * kLess) return true;
        if (state_.occupancy() > before.occupancy) return false;
        return standing_at(state_, top).at_top < before.at_top;
    }

    OccupancyState& state_;
    const MapOptions& options_;
    std::int64_t work_;  // left
    std::vector<std::vector<TaskIndex>> tasks_on_;
    std::vector<ProcessorIndex>
        idlest_;  // by zone: least loaded processor with room, the fastest of equals; -1 where none
};

}  // namespace

void map_in_order(OccupancyState& state, const MapOptions& options) {
    const TaskIndex tasks = state.graph().task_count();
    const ProcessorIndex processors = state.resources().processor_count();
    std::vector<double> speeds;
    for (ProcessorIndex p = 0; p < processors; ++p) speeds.push_back(state.resources().speed(p));
    const std::span<const double> all_compute = state.graph().compute();
    const auto larger = [](double a, double b) { return std::max(a, b); };
    const std::vector<double> compute_left = suffix({all_compute.begin(), all_compute.end()}, std::plus<>{});
    const std::vector<double> heaviest_left = suffix({all_compute.begin(), all_compute.end()}, larger);
    const std::vector<double> speed_left = suffix(speeds, std::plus<>{});
    const std::vector<double> fastest_left = suffix(speeds, larger);

    Frontier frontier;
    TaskIndex next = 0;
    for (ProcessorIndex p = 0; p < processors && next < tasks; ++p) {
        const auto after = static_cast<std::size_t>(p) + 1;
        const std::int64_t slots_after = p + 1 == processors ? 0 : options.slots(processors - p - 1);
        const auto must = static_cast<TaskIndex>(std::max<std::int64_t>(0, tasks - next - slots_after));
        const auto may = static_cast<TaskIndex>(std::min<std::int64_t>(tasks - next, options.slots(1)));
        ZBS_EXPECTS(must <= may);
        const OutwardLinks outward(state, p);
        double best = std::numeric_limits<double>::infinity();
        TaskIndex best_count = must;
        TaskIndex count = 0;
        for (;; ++count) {
            if (count >= must) {
                const auto left = static_cast<std::size_t>(next + count);
                double metric = state.occupancy();
                if (metric > best * (1 + kSame)) break;  // it only grows with more tasks
                if (next + count < tasks) {
                    // The heaviest task left needs a whole processor: without it, sums alone would call idle processors
                    // a gain.
                    metric = std::max({metric, compute_left[left] / speed_left[after],
                                       heaviest_left[left] / fastest_left[after],
                                       outward.seconds(frontier.bytes, frontier.messages, state.steps())});
                }
                if (metric <= best * (1 + kSame)) {
                    best = std::min(best, metric);
                    best_count = count;
                }
            }
            if (count == may) break;
            state.assign(next + count, p);
            frontier.cross(state, next + count, 1);
        }
        for (; count > best_count; --count) {
            frontier.cross(state, next + count - 1, -1);
            state.unassign(next + count - 1);
        }
        next += best_count;
    }
    ZBS_EXPECTS(next == tasks);
}

int improve(OccupancyState& state, const MapOptions& options) {
    [[maybe_unused]] const double before = state.occupancy();
    Improver improver(state, options);
    int steps = 0;
    while (steps < kMaxImprovements && improver.step()) ++steps;
    for (int pass = 0; pass < kCheaperPasses && improver.lower_link_time();) ++pass;
#ifdef ZBS_CHECK_DELTAS
    const double recomputed = evaluate(state.graph(), state.resources(), state.mapping(), state.steps()).occupancy;
    ZBS_EXPECTS(std::abs(recomputed - state.occupancy()) <= 1e-6 * std::max(recomputed, before));
#endif
    return steps;
}

Result<Mapping> GlobalMapper::map(const TaskGraph& graph, const ResourceGraph& resources,
                                  const MapOptions& options) const {
    if (auto ok = check_slots(graph.task_count(), resources.processor_count(), options); !ok) return ok.error();
    const ClusterTree tree = make_cluster_tree(graph, {.seed = options.seed, .weigh_messages = options.weigh_messages});
    // In tree order the same application looks the same to the last bit, however its tasks were numbered.
    const TaskGraph ordered = subgraph(graph, tree.order);
    OccupancyState state(ordered, resources, communication_steps(ordered));
    map_in_order(state, options);
    improve(state, options);
    Mapping mapping{std::vector<ProcessorIndex>(tree.order.size())};
    for (std::size_t i = 0; i < tree.order.size(); ++i) {
        mapping.processor_of[static_cast<std::size_t>(tree.order[i])] = state.processor_of(static_cast<TaskIndex>(i));
    }
    return mapping;
}

}  // namespace zbs
