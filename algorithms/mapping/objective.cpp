#include "algorithms/mapping/objective.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/mapping/occupancy.hpp"
#include "algorithms/mapping/trees/max_tree.hpp"

namespace zbs {
namespace {

constexpr double kTop = 1 - 1e-9;  // relative: loads as large as this share of the largest are bottlenecks, too

/// Loads of numbered resources and their maximum, plain and smooth. A resource nobody uses has load 0 exactly.
class Loads {
  public:
    explicit Loads(std::size_t count) : users_(count, 0), load_(count), smooth_(count) {}
    void add(std::size_t resource, double seconds) {
        ++users_[resource];
        set(resource, load_[resource] + seconds);
    }
    void remove(std::size_t resource, double seconds) {
        set(resource, --users_[resource] == 0 ? 0 : std::max(0.0, load_[resource] - seconds));
    }
    double max() const { return load_.max(); }
    std::size_t argmax() const { return load_.argmax(); }
    std::size_t bottlenecks() const { return max() > 0 ? load_.count_at_least(max() * kTop) : 0; }
    double smooth() const { return smooth_.value(); }

  private:
    void set(std::size_t resource, double seconds) {
        load_.set(resource, seconds);
        smooth_.set(resource, seconds);
    }
    std::vector<std::int32_t> users_;
    MaxTree load_;
    SmoothMax smooth_;
};

/// The tasks with a share > 0, largest first.
std::vector<TaskIndex> by_share(std::vector<std::pair<double, TaskIndex>> shares) {
    std::erase_if(shares, [](const auto& share) { return share.first <= 0; });
    std::ranges::sort(shares, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<TaskIndex> tasks;
    for (const auto& [share, task] : shares) tasks.push_back(task);
    return tasks;
}

/// The largest of loads that tasks and pairs put on resources. A Load defines which and how much: resource_count(),
/// own(task, processor), for_pair(p, q, traffic, add(resource, seconds)), recompute(processor_of).
/// Resources 0 .. processors - 1 are the processors.
template <class Load>
class BottleneckState final : public ObjectiveState {
  public:
    BottleneckState(const TaskGraph& graph, ProcessorIndex processors, Load load,
                    std::vector<ProcessorIndex> processor_of)
        : ObjectiveState(graph, processors, std::move(processor_of)),
          load_(std::move(load)),
          loads_(load_.resource_count()) {
        for (TaskIndex t = 0; t < graph.task_count(); ++t) {
            const ProcessorIndex p = this->processor_of(t);
            loads_.add(static_cast<std::size_t>(p), load_.own(t, p));
            for (const TaskGraph::Neighbour& n : graph.neighbours(t)) {
                if (n.task < t) pair(t, p, n, [&](std::size_t r, double s) { loads_.add(r, s); });
            }
        }
    }
    double value() const override { return loads_.max(); }
    double recompute() const override { return load_.recompute(processors()); }
    std::size_t bottlenecks() const override { return loads_.bottlenecks(); }
    double smooth() const override { return loads_.smooth(); }
    std::vector<TaskIndex> critical_tasks() const override {
        const std::size_t top = loads_.argmax();
        std::vector<std::pair<double, TaskIndex>> shares;
        for (TaskIndex t = 0; t < graph().task_count(); ++t) {
            const ProcessorIndex p = processor_of(t);
            double share = static_cast<std::size_t>(p) == top ? load_.own(t, p) : 0;
            for (const TaskGraph::Neighbour& n : graph().neighbours(t)) {
                pair(t, p, n, [&](std::size_t r, double s) { share += r == top ? s : 0; });
            }
            shares.emplace_back(share, t);
        }
        return by_share(std::move(shares));
    }

  protected:
    void apply(TaskIndex task, ProcessorIndex from, ProcessorIndex to) override {
        loads_.remove(static_cast<std::size_t>(from), load_.own(task, from));
        for (const TaskGraph::Neighbour& n : graph().neighbours(task))
            pair(task, from, n, [&](std::size_t r, double s) { loads_.remove(r, s); });
        loads_.add(static_cast<std::size_t>(to), load_.own(task, to));
        for (const TaskGraph::Neighbour& n : graph().neighbours(task))
            pair(task, to, n, [&](std::size_t r, double s) { loads_.add(r, s); });
    }

  private:
    template <class Add>
    void pair(TaskIndex, ProcessorIndex p, const TaskGraph::Neighbour& n, Add add) const {
        const ProcessorIndex q = processor_of(n.task);
        if (p != q) load_.for_pair(p, q, n, add);
    }
    Load load_;
    Loads loads_;
};

/// Both ends of a pair pay for it on their processors.
class TimeOnZones {
  public:
    TimeOnZones(const TaskGraph& graph, const ResourceGraph& resources)
        : graph_(graph), resources_(resources), steps_(communication_steps(graph)) {}
    std::size_t resource_count() const { return static_cast<std::size_t>(resources_.processor_count()); }
    double own(TaskIndex task, ProcessorIndex p) const { return graph_.compute(task) * steps_ / resources_.speed(p); }
    template <class Add>
    void for_pair(ProcessorIndex p, ProcessorIndex q, const TaskGraph::Neighbour& n, Add add) const {
        const double seconds = link_seconds(resources_.link(p, q), n.bytes, n.messages, 1);
        add(static_cast<std::size_t>(p), seconds);
        add(static_cast<std::size_t>(q), seconds);
    }
    double recompute(std::span<const ProcessorIndex> processor_of) const {
        return predicted_time(graph_, resources_, processor_of);
    }

  private:
    const TaskGraph& graph_;
    const ResourceGraph& resources_;
    double steps_;
};

class TimeOnTree {
  public:
    TimeOnTree(const TaskGraph& graph, const ProcessorTree& tree) : graph_(graph), tree_(tree) {}
    std::size_t resource_count() const { return static_cast<std::size_t>(tree_.processor_count()); }
    double own(TaskIndex task, ProcessorIndex p) const { return graph_.compute(task) / tree_.speed(p); }
    template <class Add>
    void for_pair(ProcessorIndex p, ProcessorIndex q, const TaskGraph::Neighbour& n, Add add) const {
        const double seconds = n.bytes * tree_.distance(p, q);
        add(static_cast<std::size_t>(p), seconds);
        add(static_cast<std::size_t>(q), seconds);
    }
    double recompute(std::span<const ProcessorIndex> processor_of) const {
        std::vector<double> seconds(resource_count(), 0);
        for (TaskIndex t = 0; t < graph_.task_count(); ++t) {
            const ProcessorIndex p = processor_of[static_cast<std::size_t>(t)];
            seconds[static_cast<std::size_t>(p)] += graph_.compute(t) / tree_.speed(p);
        }
        for (const TaskEdge& edge : graph_.edges()) {
            const ProcessorIndex p = processor_of[static_cast<std::size_t>(edge.u)];
            const ProcessorIndex q = processor_of[static_cast<std::size_t>(edge.v)];
            for (const ProcessorIndex end : {p, q})
                seconds[static_cast<std::size_t>(end)] += edge.bytes * tree_.distance(p, q);
        }
        return seconds.empty() ? 0 : *std::ranges::max_element(seconds);
    }

  private:
    const TaskGraph& graph_;
    const ProcessorTree& tree_;
};

/// Processors, then the border of every group, as evaluate_on_tree counts them.
class OccupancyOnTree {
  public:
    OccupancyOnTree(const TaskGraph& graph, const ProcessorTree& tree) : graph_(graph), tree_(tree) {}
    std::size_t resource_count() const { return first_border() + tree_.groups().size(); }
    double own(TaskIndex task, ProcessorIndex p) const { return graph_.compute(task) / tree_.speed(p); }
    template <class Add>
    void for_pair(ProcessorIndex p, ProcessorIndex q, const TaskGraph::Neighbour& n, Add add) const {
        for (int depth = tree_.levels(); depth > 0; --depth) {
            const std::int32_t a = tree_.group_of(p, depth), b = tree_.group_of(q, depth);
            if (a == b) return;
            const auto distance_above = [&](std::int32_t group) {
                const std::int32_t parent = tree_.groups()[static_cast<std::size_t>(group)].parent;
                return tree_.groups()[static_cast<std::size_t>(parent)].distance;
            };
            const double apart = tree_.top_distance(depth == 1 ? a - 1 : 0, depth == 1 ? b - 1 : 0);
            add(first_border() + static_cast<std::size_t>(a), n.bytes * (depth == 1 ? apart : distance_above(a)));
            add(first_border() + static_cast<std::size_t>(b), n.bytes * (depth == 1 ? apart : distance_above(b)));
        }
    }
    double recompute(std::span<const ProcessorIndex> processor_of) const {
        const LoadBounds none{std::vector<double>(first_border(), 0), true};
        return evaluate_on_tree(graph_, tree_, processor_of, none).occupancy;
    }

  private:
    std::size_t first_border() const { return static_cast<std::size_t>(tree_.processor_count()); }
    const TaskGraph& graph_;
    const ProcessorTree& tree_;
};

/// Wraps the state that GLOBAL works on.
class OccupancyOnZones final : public ObjectiveState {
  public:
    OccupancyOnZones(const TaskGraph& graph, const ResourceGraph& resources, std::vector<ProcessorIndex> processor_of)
        : ObjectiveState(graph, resources.processor_count(), std::move(processor_of)),
          state_(graph, resources, communication_steps(graph)) {
        state_.keep_smooth();
        for (TaskIndex t = 0; t < graph.task_count(); ++t) state_.assign(t, this->processor_of(t));
    }
    double value() const override { return state_.occupancy(); }
    double recompute() const override { return evaluate(graph(), state_.resources(), state_.mapping()).occupancy; }
    std::size_t bottlenecks() const override {
        return state_.occupancy() > 0 ? state_.resources_at_least(state_.occupancy() * kTop) : 0;
    }
    double smooth() const override { return state_.smooth_occupancy(); }
    std::vector<TaskIndex> critical_tasks() const override {
        const std::size_t top = state_.bottleneck();
        std::vector<std::pair<double, TaskIndex>> shares;
        for (TaskIndex t = 0; t < graph().task_count(); ++t) shares.emplace_back(state_.contribution(t, top), t);
        return by_share(std::move(shares));
    }

  protected:
    void apply(TaskIndex task, ProcessorIndex, ProcessorIndex to) override { state_.move(task, to); }

  private:
    OccupancyState state_;
};

double cost_on_tree(const TaskGraph& graph, const ProcessorTree& tree, std::span<const ProcessorIndex> processor_of) {
    double sum = 0;
    for (const TaskEdge& edge : graph.edges()) {
        sum += edge.bytes * tree.distance(processor_of[static_cast<std::size_t>(edge.u)],
                                          processor_of[static_cast<std::size_t>(edge.v)]);
    }
    return sum;
}

class CostState final : public ObjectiveState {
  public:
    /// `owned` keeps traffic and tree alive where they were made for this state.
    CostState(const TaskGraph& graph, const TaskGraph& traffic, const ProcessorTree& tree,
              std::vector<ProcessorIndex> processor_of, std::shared_ptr<const WeighedTraffic> owned)
        : ObjectiveState(graph, tree.processor_count(), std::move(processor_of)),
          owned_(std::move(owned)),
          traffic_(traffic),
          tree_(tree),
          cost_(cost_on_tree(traffic, tree, processors())),
          largest_(cost_) {}
    double value() const override { return cost_; }
    double recompute() const override { return cost_on_tree(traffic_, tree_, processors()); }
    std::vector<TaskIndex> critical_tasks() const override {
        std::vector<std::pair<double, TaskIndex>> shares;
        for (TaskIndex t = 0; t < traffic_.task_count(); ++t) {
            double share = 0;
            for (const TaskGraph::Neighbour& n : traffic_.neighbours(t))
                share += n.bytes * tree_.distance(processor_of(t), processor_of(n.task));
            shares.emplace_back(share, t);
        }
        return by_share(std::move(shares));
    }

  protected:
    void apply(TaskIndex task, ProcessorIndex from, ProcessorIndex to) override {
        double change = 0;
        for (const TaskGraph::Neighbour& n : traffic_.neighbours(task)) {
            const ProcessorIndex q = processor_of(n.task);
            change += n.bytes * (tree_.distance(to, q) - tree_.distance(from, q));
        }
        cost_ += change;
        // What is left of rounding errors where all pairs are on one processor.
        if (cost_ < 1e-14 * largest_) cost_ = 0;
        largest_ = std::max(largest_, cost_);
    }

  private:
    std::shared_ptr<const WeighedTraffic> owned_;
    const TaskGraph& traffic_;
    const ProcessorTree& tree_;
    double cost_, largest_;
};

void expect_in_range(const TaskGraph& graph, ProcessorIndex processors, std::span<const ProcessorIndex> processor_of) {
    ZBS_EXPECTS(processor_of.size() == static_cast<std::size_t>(graph.task_count()));
    ZBS_EXPECTS(std::ranges::all_of(processor_of, [&](ProcessorIndex p) { return p >= 0 && p < processors; }));
}

}  // namespace

void ObjectiveState::move(TaskIndex task, ProcessorIndex to) {
    ProcessorIndex& at = processor_of_[static_cast<std::size_t>(task)];
    if (at == to) return;
    apply(task, at, to);
    at = to;
    check();
}

void ObjectiveState::check() {
#ifdef ZBS_CHECK_DELTAS
    largest_ = std::max(largest_, value());
    const auto size = static_cast<std::int64_t>(graph_.edge_count()) + graph_.task_count() + processor_count_;
    if (++unchecked_ < std::max<std::int64_t>(1024, 4 * size)) return;
    unchecked_ = 0;
    const double exact = recompute();
    // Sums of what came and went have lost digits of the largest they ever were.
    ZBS_EXPECTS(std::abs(exact - value()) <= 1e-6 * exact + 1e-9 * largest_ + 1e-300);
#endif
}

WeighedTraffic weigh_traffic(const TaskGraph& graph, const ResourceGraph& resources, bool weigh_messages) {
    double bytes = 0, messages = 0;
    for (const TaskEdge& edge : graph.edges()) {
        bytes += edge.bytes;
        messages += edge.messages;
    }
    const double message_bytes = messages > 0 && bytes > 0 ? bytes / messages : 4096;
    WeighedTraffic made{.graph = {}, .tree = ProcessorTree::of(resources, message_bytes)};
    Link slowest = resources.zones()[0].within_zone;
    const auto seconds = [&](const Link& link) { return link.delay_s + message_bytes / link.bandwidth_Bps; };
    const double unit = seconds(slowest) / made.tree.groups()[1].distance;
    made.seconds = unit / message_bytes;
    if (!weigh_messages || messages <= 0) {
        made.graph = graph;
        return made;
    }
    for (std::int32_t a = 0; a < resources.zone_count(); ++a) {
        for (const Link& link : {resources.zones()[static_cast<std::size_t>(a)].within_machine,
                                 resources.zones()[static_cast<std::size_t>(a)].within_zone})
            if (seconds(link) > seconds(slowest)) slowest = link;
        for (std::int32_t b = 0; b < a; ++b)
            if (seconds(resources.zone_link(a, b)) > seconds(slowest)) slowest = resources.zone_link(a, b);
    }
    std::vector<TaskEdge> edges(graph.edges().begin(), graph.edges().end());
    // Delays, bandwidths and traffic at the ends of their ranges together leave those of a number.
    constexpr double kMax = 1e200;
    for (TaskEdge& edge : edges)
        edge.bytes = std::min(kMax, edge.bytes / slowest.bandwidth_Bps + edge.messages * slowest.delay_s);
    Result<TaskGraph> weighed = TaskGraph::make({graph.compute().begin(), graph.compute().end()}, std::move(edges));
    ZBS_EXPECTS(weighed.has_value());
    made.graph = *std::move(weighed);
    made.seconds = unit / seconds(slowest);
    return made;
}

std::unique_ptr<ObjectiveState> make_objective(Objective objective, const TaskGraph& graph,
                                               const ResourceGraph& resources,
                                               std::vector<ProcessorIndex> processor_of) {
    expect_in_range(graph, resources.processor_count(), processor_of);
    if (objective == Objective::kOccupancy)
        return std::make_unique<OccupancyOnZones>(graph, resources, std::move(processor_of));
    if (objective == Objective::kTime) {
        return std::make_unique<BottleneckState<TimeOnZones>>(graph, resources.processor_count(),
                                                              TimeOnZones(graph, resources), std::move(processor_of));
    }
    const auto weighed = std::make_shared<const WeighedTraffic>(weigh_traffic(graph, resources, true));
    return std::make_unique<CostState>(graph, weighed->graph, weighed->tree, std::move(processor_of), weighed);
}

std::unique_ptr<ObjectiveState> make_objective(Objective objective, const TaskGraph& graph, const ProcessorTree& tree,
                                               std::vector<ProcessorIndex> processor_of) {
    expect_in_range(graph, tree.processor_count(), processor_of);
    if (objective == Objective::kOccupancy) {
        return std::make_unique<BottleneckState<OccupancyOnTree>>(
            graph, tree.processor_count(), OccupancyOnTree(graph, tree), std::move(processor_of));
    }
    if (objective == Objective::kTime) {
        return std::make_unique<BottleneckState<TimeOnTree>>(graph, tree.processor_count(), TimeOnTree(graph, tree),
                                                             std::move(processor_of));
    }
    return std::make_unique<CostState>(graph, graph, tree, std::move(processor_of), nullptr);
}

double predicted_time(const TaskGraph& graph, const ResourceGraph& resources,
                      std::span<const ProcessorIndex> processor_of) {
    expect_in_range(graph, resources.processor_count(), processor_of);
    const double steps = communication_steps(graph);
    std::vector<double> seconds(static_cast<std::size_t>(resources.processor_count()), 0);
    for (TaskIndex t = 0; t < graph.task_count(); ++t) {
        const ProcessorIndex p = processor_of[static_cast<std::size_t>(t)];
        seconds[static_cast<std::size_t>(p)] += graph.compute(t) * steps / resources.speed(p);
    }
    for (const TaskEdge& edge : graph.edges()) {
        const ProcessorIndex p = processor_of[static_cast<std::size_t>(edge.u)];
        const ProcessorIndex q = processor_of[static_cast<std::size_t>(edge.v)];
        if (p == q) continue;
        const Link& link = resources.link(p, q);
        for (const ProcessorIndex end : {p, q})
            seconds[static_cast<std::size_t>(end)] += edge.bytes / link.bandwidth_Bps + edge.messages * link.delay_s;
    }
    return seconds.empty() ? 0 : *std::ranges::max_element(seconds);
}

}  // namespace zbs
