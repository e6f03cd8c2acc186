#include "algorithms/mapping/objective_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/rng.hpp"
#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/metis_multisection.hpp"
#include "algorithms/mapping/multilevel_mapper.hpp"
#include "algorithms/mapping/trees/tree_baselines.hpp"
#include "algorithms/mapping/zone_planner.hpp"

namespace zbs {
namespace {

constexpr double kLess = 1 - 1e-9;
constexpr std::size_t kCandidates = 24;     // tasks of a bottleneck that a step tries
constexpr ProcessorIndex kAllTargets = 64;  // up to so many processors a step tries all
constexpr std::size_t kSwapPartners = 8;    // tasks of a target it is tried to swap with
constexpr double kHot = 2, kCold = 0.0005;  // temperatures, relative to the objective
constexpr std::size_t kFocus = 32;          // critical tasks that annealing prefers
// Of more tasks one change is too small a share of all cost: annealing on the sum found nothing there.
constexpr TaskIndex kMostTasksAnnealedForCost = 200;

/// What decides between mappings: the objective, then how many bottlenecks, then the loads below.
struct Standing {
    double value;
    std::size_t bottlenecks;
    double smooth;

    bool better_than(const Standing& other) const {
        if (value < other.value * kLess) return true;
        if (value > other.value) return false;
        if (bottlenecks != other.bottlenecks) return bottlenecks < other.bottlenecks;
        return smooth < other.smooth * (1 - 1e-6);
    }
};

class Search {
  public:
    Search(std::unique_ptr<ObjectiveState> state, const LoadBounds& bounds, const ImproveOptions& options,
           std::uint64_t seed)
        : state_(std::move(state)), bounds_(bounds), options_(options), rng_(seed), graph_(state_->graph()) {
        const auto processors = static_cast<std::size_t>(state_->processor_count());
        load_.assign(processors, 0);
        tasks_on_.resize(processors);
        place_in_.resize(static_cast<std::size_t>(graph_.task_count()));
        for (TaskIndex t = 0; t < graph_.task_count(); ++t) enter(t, state_->processor_of(t));
    }

    Standing standing() const { return {state_->value(), state_->bottlenecks(), state_->smooth()}; }
    bool within_bounds() const {
        for (std::size_t p = 0; p < load_.size(); ++p)
            if (load_[p] > bounds_.most[p] * (1 + 1e-9)) return false;
        return true;
    }
    std::vector<ProcessorIndex> mapping() const { return {state_->processors().begin(), state_->processors().end()}; }

    /// Steps at the bottleneck until none helps.
    void descend(std::int64_t work) {
        while (work > 0 && !stopped() && step(work)) {
        }
    }

    void anneal(std::int64_t work) {
        const double degree = 2.0 * static_cast<double>(graph_.edge_count()) / std::max(1, graph_.task_count());
        const double places = static_cast<double>(graph_.task_count()) * state_->processor_count();
        const auto proposals = static_cast<std::int64_t>(
            std::min(static_cast<double>(work) / (10 * (degree + 2)), options_.rounds * places));
        if (proposals < 1 || graph_.task_count() == 0 || state_->processor_count() < 2) return;
        const std::int64_t refresh = std::max<std::int64_t>(
            128, (graph_.task_count() + 2 * static_cast<std::int64_t>(graph_.edge_count())) / 16);
        Standing best = standing();
        double energy = best.smooth;
        const double hot = kHot * energy;
        log_.clear();
        logging_ = true;
        std::vector<TaskIndex> focus;
        // A hub costs its degree whenever it moves: what is left of the work sets the pace, too.
        visits_ = 0;
        for (std::int64_t i = 0; i < proposals && visits_ < work; ++i) {
            if (i % refresh == 0) {
                focus = state_->critical_tasks();
                if (focus.size() > kFocus) focus.resize(kFocus);
                if (stopped()) break;
            }
            const double done = std::max(static_cast<double>(i) / static_cast<double>(proposals),
                                         static_cast<double>(visits_) / static_cast<double>(work));
            const double temperature = hot * std::pow(kCold / kHot, done);
            const std::size_t mark = log_.size();
            if (!propose(focus)) continue;
            const double now = state_->smooth();
            if (now > energy && rng_.uniform() >= std::exp((energy - now) / temperature)) {
                undo_to(mark);
                continue;
            }
            energy = now;
            if (state_->value() > best.value) continue;
            if (const Standing here = standing(); here.better_than(best)) {
                best = here;
                log_.clear();
            }
        }
        undo_to(0);
        logging_ = false;
    }

  private:
    double size(TaskIndex task) const { return bounds_.size(graph_, task); }
    bool fits(ProcessorIndex p, double more) const {
        return more <= 0 ||
               load_[static_cast<std::size_t>(p)] + more <= bounds_.most[static_cast<std::size_t>(p)] * (1 + 1e-9);
    }
    bool stopped() const { return options_.out_of_time && options_.out_of_time(); }
    std::vector<TaskIndex>& tasks_on(ProcessorIndex p) { return tasks_on_[static_cast<std::size_t>(p)]; }

    void enter(TaskIndex task, ProcessorIndex p) {
        load_[static_cast<std::size_t>(p)] += size(task);
        place_in_[static_cast<std::size_t>(task)] = tasks_on(p).size();
        tasks_on(p).push_back(task);
    }
    void leave(TaskIndex task, ProcessorIndex p) {
        std::vector<TaskIndex>& mine = tasks_on(p);
        const std::size_t place = place_in_[static_cast<std::size_t>(task)];
        mine[place] = mine.back();
        place_in_[static_cast<std::size_t>(mine[place])] = place;
        mine.pop_back();
        double& load = load_[static_cast<std::size_t>(p)];
        load = mine.empty() ? 0 : load - size(task);
    }
    void move(TaskIndex task, ProcessorIndex to) {
        const ProcessorIndex from = state_->processor_of(task);
        if (logging_) log_.emplace_back(task, from);
        visits_ += 2 + static_cast<std::int64_t>(graph_.neighbours(task).size());
        leave(task, from);
        enter(task, to);
        state_->move(task, to);
    }
    void swap(TaskIndex a, TaskIndex b) {
        const ProcessorIndex from = state_->processor_of(a);
        move(a, state_->processor_of(b));
        move(b, from);
    }
    bool may_swap(TaskIndex a, TaskIndex b) const {
        const double more = size(a) - size(b);
        return fits(state_->processor_of(b), more) && fits(state_->processor_of(a), -more);
    }
    void undo_to(std::size_t mark) {
        const bool was_logging = std::exchange(logging_, false);
        while (log_.size() > mark) {
            const auto [task, from] = log_.back();
            log_.pop_back();
            move(task, from);
        }
        logging_ = was_logging;
    }

    /// One move or swap that makes the standing better; false where none was found.
    bool step(std::int64_t& work) {
        const Standing before = standing();
        if (before.value <= 0) return false;
        std::vector<TaskIndex> tasks = state_->critical_tasks();
        work -= graph_.task_count() + 2 * static_cast<std::int64_t>(graph_.edge_count());
        if (tasks.size() > kCandidates) tasks.resize(kCandidates);
        for (const TaskIndex task : tasks) {
            const ProcessorIndex from = state_->processor_of(task);
            const auto degree = static_cast<std::int64_t>(graph_.neighbours(task).size());
            for (const ProcessorIndex to : targets(task)) {
                if (work <= 0) return false;
                if (to == from) continue;
                if (fits(to, size(task))) {
                    work -= 4 * (degree + 2);
                    move(task, to);
                    if (standing().better_than(before)) return true;
                    move(task, from);
                }
                const std::vector<TaskIndex> others(
                    tasks_on(to).begin(),
                    tasks_on(to).begin() + static_cast<std::ptrdiff_t>(std::min(tasks_on(to).size(), kSwapPartners)));
                for (const TaskIndex other : others) {
                    if (!may_swap(task, other)) continue;
                    work -= 4 * (degree + 2 + static_cast<std::int64_t>(graph_.neighbours(other).size()));
                    swap(task, other);
                    if (standing().better_than(before)) return true;
                    swap(task, other);
                }
            }
        }
        return false;
    }

    /// All processors where they are few; else those of neighbours, those beside them, and some drawn.
    std::vector<ProcessorIndex> targets(TaskIndex task) {
        std::vector<ProcessorIndex> found;
        const ProcessorIndex count = state_->processor_count();
        if (count <= kAllTargets) {
            found.resize(static_cast<std::size_t>(count));
            std::iota(found.begin(), found.end(), 0);
            return found;
        }
        for (const TaskGraph::Neighbour& n : graph_.neighbours(task)) {
            if (found.size() >= 40) break;
            const ProcessorIndex home = state_->processor_of(n.task);
            for (ProcessorIndex p = std::max(0, home - 2); p <= std::min(count - 1, home + 2); ++p) found.push_back(p);
        }
        for (int i = 0; i < 24; ++i) found.push_back(any_processor());
        std::ranges::sort(found);
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }
    ProcessorIndex any_processor() {
        return static_cast<ProcessorIndex>(rng_.below(static_cast<std::uint64_t>(state_->processor_count())));
    }

    /// Carries out a move or swap drawn at random; false where what was drawn is impossible.
    bool propose(const std::vector<TaskIndex>& focus) {
        const std::uint64_t drawn = rng_.next();
        const TaskIndex task =
            !focus.empty() && drawn % 2 == 0
                ? focus[rng_.below(focus.size())]
                : static_cast<TaskIndex>(rng_.below(static_cast<std::uint64_t>(graph_.task_count())));
        const ProcessorIndex from = state_->processor_of(task);
        const auto neighbours = graph_.neighbours(task);
        ProcessorIndex to = any_processor();
        if (!neighbours.empty() && drawn / 2 % 2 == 0) {
            to = state_->processor_of(neighbours[rng_.below(neighbours.size())].task);
            to += static_cast<ProcessorIndex>(rng_.below(5)) - 2;  // often beside it
            to = std::clamp(to, 0, state_->processor_count() - 1);
        }
        if (to == from) return false;
        const std::vector<TaskIndex>& there = tasks_on(to);
        if ((drawn / 4 % 2 == 0 || there.empty()) && fits(to, size(task))) {
            move(task, to);
            return true;
        }
        if (there.empty()) return false;
        const TaskIndex other = there[rng_.below(there.size())];
        if (!may_swap(task, other)) return false;
        swap(task, other);
        return true;
    }

    std::unique_ptr<ObjectiveState> state_;
    const LoadBounds& bounds_;
    const ImproveOptions& options_;
    Rng rng_;
    const TaskGraph& graph_;
    std::vector<double> load_;  // in the bounds' measure
    std::vector<std::vector<TaskIndex>> tasks_on_;
    std::vector<std::size_t> place_in_;  // of a task in its tasks_on_
    std::vector<std::pair<TaskIndex, ProcessorIndex>> log_;
    bool logging_ = false;
    std::int64_t visits_ = 0;  // of neighbours, by moves
};

struct Candidate {
    Standing standing;
    bool within_bounds;
    std::vector<ProcessorIndex> processor_of;

    bool better_than(const Candidate& other) const {
        if (within_bounds != other.within_bounds) return within_bounds;
        return standing.better_than(other.standing);
    }
};

Candidate taken(const Search& search) { return {search.standing(), search.within_bounds(), search.mapping()}; }

/// Pieces of work, each independent of how many run at once.
void run_all(TaskRunner* runner, std::size_t count, const std::function<void(std::size_t)>& work) {
    SerialRunner serial;
    (runner != nullptr ? *runner : serial).run(static_cast<int>(count), [&](int i) {
        work(static_cast<std::size_t>(i));
    });
}

std::int64_t work_of(Preset preset) {
    switch (preset) {
        case Preset::kFast:
            return 1'000'000;
        case Preset::kDefault:
            return 6'000'000;
        case Preset::kStrong:
            return 60'000'000;
    }
    return 0;
}

ImproveOptions improve_options(const MapOptions& options) {
    return {.seed = options.seed,
            .work = work_of(options.preset),
            .rounds = options.preset == Preset::kFast      ? 30
                      : options.preset == Preset::kDefault ? 100
                                                           : 400,
            .chains = options.preset == Preset::kFast ? 2 : 4,
            .runner = options.runner,
            .out_of_time = options.out_of_time};
}

/// Some of the zones, and which processors of the whole theirs are.
struct Part {
    ResourceGraph resources;
    std::vector<ProcessorIndex> processor;
};

Part only_zones(const ResourceGraph& resources, std::vector<std::int32_t> chosen) {
    std::ranges::sort(chosen);
    Part part;
    std::vector<Zone> zones;
    std::vector<ResourceGraph::ZoneLink> links;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        zones.push_back(resources.zones()[static_cast<std::size_t>(chosen[i])]);
        for (int p = 0; p < resources.processors_in_zone(chosen[i]); ++p)
            part.processor.push_back(resources.first_processor_of_zone(chosen[i]) + p);
        for (std::size_t j = 0; j < i; ++j) {
            links.push_back({static_cast<std::int32_t>(j), static_cast<std::int32_t>(i),
                             resources.zone_link(chosen[j], chosen[i])});
        }
    }
    part.resources = ResourceGraph::make(std::move(zones), std::move(links)).value();
    return part;
}

/// One machine, or `processors` of it.
Part only_machine(const ResourceGraph& resources, ProcessorIndex first, int processors) {
    const ProcessorPlace& at = resources.place(first);
    Zone zone = resources.zones()[static_cast<std::size_t>(at.zone)];
    Machine machine = zone.machines[static_cast<std::size_t>(at.machine)];
    machine.processors = processors;
    zone.machines = {machine};
    Part part{ResourceGraph::make({zone}, {}).value(),
              std::vector<ProcessorIndex>(static_cast<std::size_t>(processors))};
    std::iota(part.processor.begin(), part.processor.end(), first);
    return part;
}

/// Fewer and fewer of the resources, the fastest kept, as long as the tasks fit: what pays when traffic is slow.
std::vector<Part> smaller_parts(const ResourceGraph& resources, std::int64_t tasks, const MapOptions& options) {
    std::vector<Part> parts;
    const auto add = [&](Part part) {
        if (tasks <= options.slots(part.resources.processor_count())) parts.push_back(std::move(part));
    };
    std::vector<std::int32_t> order(static_cast<std::size_t>(resources.zone_count()));
    std::iota(order.begin(), order.end(), 0);
    const auto speed = [&](std::int32_t zone) { return resources.zones()[static_cast<std::size_t>(zone)].speed_sum(); };
    std::ranges::stable_sort(order, std::greater<>{}, speed);
    for (std::size_t count = 1; count < order.size(); count += std::max<std::size_t>(1, count / 2))
        add(only_zones(resources, {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)}));
    // With a limit of tasks the fastest zones may not hold them where the largest do.
    const auto processors = [&](std::int32_t zone) { return resources.processors_in_zone(zone); };
    std::ranges::stable_sort(order, std::greater<>{}, processors);
    add(only_zones(resources, {order[0]}));
    ProcessorIndex machine = 0, fastest = 0;
    double most = 0;
    for (ProcessorIndex p = 0; p < resources.processor_count(); ++p) {
        const ProcessorPlace& at = resources.place(p);
        const Machine& of =
            resources.zones()[static_cast<std::size_t>(at.zone)].machines[static_cast<std::size_t>(at.machine)];
        if (of.speed > resources.speed(fastest)) fastest = p;
        if (at.processor == 0 && of.speed * of.processors > most) {
            most = of.speed * of.processors;
            machine = p;
        }
    }
    const ProcessorPlace& at = resources.place(machine);
    add(only_machine(resources, machine,
                     resources.zones()[static_cast<std::size_t>(at.zone)]
                         .machines[static_cast<std::size_t>(at.machine)]
                         .processors));
    add(only_machine(resources, fastest, 1));
    return parts;
}

}  // namespace

std::vector<ProcessorIndex> improve_objective(const MakeObjective& make,
                                              std::vector<std::vector<ProcessorIndex>> starts, const LoadBounds& bounds,
                                              const ImproveOptions& options) {
    ZBS_EXPECTS(!starts.empty() && options.chains >= 0);
    std::vector<Candidate> found(starts.size());
    run_all(options.runner, starts.size(), [&](std::size_t i) {
        Search search(make(starts[i]), bounds, options, options.seed + i);
        search.descend(options.work / 4);
        found[i] = taken(search);
    });
    std::ranges::stable_sort(found, [](const Candidate& a, const Candidate& b) { return a.better_than(b); });
    const std::size_t sources = std::min<std::size_t>(2, found.size());
    std::vector<Candidate> ends(static_cast<std::size_t>(options.chains));
    run_all(options.runner, ends.size(), [&](std::size_t i) {
        Search search(make(found[i % sources].processor_of), bounds, options, options.seed + 1000 + i);
        search.anneal(options.work);
        search.descend(options.work / 4);
        ends[i] = taken(search);
    });
    Candidate best = std::move(found[0]);
    for (Candidate& end : ends)
        if (end.better_than(best)) best = std::move(end);
    return std::move(best.processor_of);
}

Result<Mapping> map_by_objective(const TaskGraph& graph, const ResourceGraph& resources, const MapOptions& options) {
    if (auto ok = check_slots(graph.task_count(), resources.processor_count(), options); !ok) return ok.error();
    if (graph.task_count() == 0) return Mapping{};
    MapOptions by_cost = options;
    by_cost.objective = Objective::kCost;
    std::vector<std::vector<ProcessorIndex>> starts = {multilevel_on_zones(graph, resources, by_cost).processor_of};
    by_cost.preset = Preset::kFast;
    for (const Part& part : smaller_parts(resources, graph.task_count(), options)) {
        if (options.out_of_time && options.out_of_time()) break;
        starts.push_back(multilevel_on_zones(graph, part.resources, by_cost).processor_of);
        for (ProcessorIndex& p : starts.back()) p = part.processor[static_cast<std::size_t>(p)];
    }
    for (const std::string_view name : {"global", "hier"}) {
        if (options.out_of_time && options.out_of_time()) break;
        MapOptions plain = by_cost;
        plain.level2 = "global";
        const Result<Mapping> mapped = find_mapper(name)->map(graph, resources, plain);
        if (!mapped) return mapped.error();
        starts.push_back(mapped->processor_of);
    }
    if (options.objective == Objective::kCost) {
        const WeighedTraffic weighed = weigh_traffic(graph, resources, options.weigh_messages);
        const LoadBounds bounds = load_bounds(graph, weighed.tree, options);
        starts.push_back(greedy_on_tree(weighed.graph, weighed.tree, bounds));
        ImproveOptions improve = improve_options(options);
        if (graph.task_count() > kMostTasksAnnealedForCost) improve.chains = 0;
        return Mapping{improve_objective(
            [&](std::vector<ProcessorIndex> start) {
                return make_objective(Objective::kCost, weighed.graph, weighed.tree, std::move(start));
            },
            std::move(starts), bounds, improve)};
    }
    LoadBounds bounds;
    bounds.counts_tasks = true;
    bounds.most.assign(static_cast<std::size_t>(resources.processor_count()),
                       options.max_tasks_per_processor > 0 ? options.max_tasks_per_processor
                                                           : std::numeric_limits<double>::infinity());
    return Mapping{improve_objective(
        [&](std::vector<ProcessorIndex> start) {
            return make_objective(options.objective, graph, resources, std::move(start));
        },
        std::move(starts), bounds, improve_options(options))};
}

std::vector<ProcessorIndex> map_by_objective_on_tree(const TaskGraph& graph, const ProcessorTree& tree,
                                                     const LoadBounds& bounds, const MapOptions& options) {
    if (graph.task_count() == 0) return {};
    MapOptions by_cost = options;
    by_cost.objective = Objective::kCost;
    std::vector<std::vector<ProcessorIndex>> starts = {multilevel_on_tree(graph, tree, bounds, by_cost),
                                                       metis_multisection(graph, tree, bounds, options.seed)};
    keep_bounds(graph, tree, bounds, starts.back());
    return improve_objective(
        [&](std::vector<ProcessorIndex> start) {
            return make_objective(options.objective, graph, tree, std::move(start));
        },
        std::move(starts), bounds, improve_options(options));
}

}  // namespace zbs
