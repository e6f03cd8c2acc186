#include "algorithms/mapping/trees/grid_tilings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

constexpr double kFarthest = 2.5;         // mean steps of a byte in a graph that is still a grid
constexpr double kNearlyAsNear = 1.2;     // a second shape is tried where its steps are within this factor
constexpr std::uint64_t kSample = 4'000;  // edges that judge a shape
constexpr std::size_t kDivisions = 8;     // judged by their cost
constexpr std::size_t kMappings = 3;
constexpr std::size_t kMostDivisions = 50'000;
constexpr double kUneven = 1.03;  // what steps at the ends of boxes cost, roughly
constexpr double kSparse = 0.75;  // below this share of the capacity a group fills as few children as hold the load

constexpr std::size_t kSides = 3;
using Shape = std::array<std::int32_t, kSides>;     // last side fastest
using Division = std::array<std::int32_t, kSides>;  // parts of each side

std::array<std::int32_t, kSides> coordinates(TaskIndex task, const Shape& shape) {
    return {task / (shape[1] * shape[2]), task / shape[2] % shape[1], task % shape[2]};
}

/// Every way to write `count` as a product of three.
std::vector<Division> products(std::int32_t count) {
    std::vector<std::int32_t> divisors;
    for (std::int32_t d = 1; static_cast<std::int64_t>(d) * d <= count; ++d) {
        if (count % d != 0) continue;
        divisors.push_back(d);
        if (d != count / d) divisors.push_back(count / d);
    }
    std::ranges::sort(divisors);
    std::vector<Division> found;
    for (const std::int32_t a : divisors) {
        for (const std::int32_t b : divisors) {
            if (count / a % b == 0) found.push_back({a, b, count / a / b});
        }
    }
    return found;
}

/// The shapes in which bytes go few steps, the best first; at most two.
std::vector<Shape> find_shapes(const TaskGraph& graph) {
    const std::span<const TaskEdge> edges = graph.edges();
    std::vector<const TaskEdge*> sample;
    Rng rng(1);
    const bool all = edges.size() <= kSample;
    for (std::size_t i = 0; i < std::min<std::size_t>(edges.size(), kSample); ++i)
        sample.push_back(&edges[all ? i : rng.below(edges.size())]);
    std::vector<std::pair<double, Shape>> found;
    for (const Division& shape : products(graph.task_count())) {
        if (shape[1] == 1 || shape[2] == 1) continue;  // a line is a matter of blocks
        double steps = 0, bytes = 0;
        for (const TaskEdge* edge : sample) {
            const auto u = coordinates(edge->u, shape), v = coordinates(edge->v, shape);
            std::int32_t distance = 0;
            for (std::size_t side = 0; side < kSides; ++side) {
                const std::int32_t apart = std::abs(u[side] - v[side]);
                distance += std::min(apart, shape[side] - apart);
            }
            steps += edge->bytes * distance;
            bytes += edge->bytes;
        }
        if (bytes > 0 && steps <= kFarthest * bytes) found.emplace_back(steps / bytes, shape);
    }
    std::ranges::stable_sort(found, {}, &std::pair<double, Shape>::first);
    std::vector<Shape> shapes;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, found.size()); ++i)
        if (found[i].first <= kNearlyAsNear * found[0].first) shapes.push_back(found[i].second);
    return shapes;
}

/// What a cut across a side costs: bytes between two neighbouring places of the side, all of them together.
struct Sides {
    std::array<double, kSides> bytes{};
    std::array<bool, kSides> is_ring{};
};
Sides measure_sides(const TaskGraph& graph, const Shape& shape) {
    Sides sides;
    std::array<double, kSides> around{};
    for (const TaskEdge& edge : graph.edges()) {
        const auto u = coordinates(edge.u, shape), v = coordinates(edge.v, shape);
        for (std::size_t side = 0; side < kSides; ++side) {
            const std::int32_t apart = std::abs(u[side] - v[side]);
            if (2 * apart > shape[side]) around[side] += edge.bytes;
            sides.bytes[side] += edge.bytes * std::min(apart, shape[side] - apart);
        }
    }
    for (std::size_t side = 0; side < kSides; ++side) {
        sides.is_ring[side] = shape[side] > 2 && around[side] * shape[side] > sides.bytes[side] / 2;
        sides.bytes[side] /= sides.is_ring[side] ? shape[side] : std::max(1, shape[side] - 1);
    }
    return sides;
}

/// How a division of every level is carried out.
class Tiling {
  public:
    Tiling(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds, const Shape& shape)
        : graph_(graph), tree_(tree), bounds_(bounds), shape_(shape), most_before_(1, 0) {
        for (const double most : bounds.most) most_before_.push_back(most_before_.back() + most);
    }

    /// `plan[depth]` for the groups of a depth, root first.
    std::vector<ProcessorIndex> map(const std::vector<Division>& plan) {
        std::vector<TaskIndex> all(static_cast<std::size_t>(graph_.task_count()));
        std::iota(all.begin(), all.end(), 0);
        processor_of_.assign(all.size(), 0);
        place(0, 0, all, plan);
        return processor_of_;
    }

    /// How many children of a group of this depth take tasks, if all groups are like the first.
    std::vector<std::int32_t> children_used() const {
        std::vector<std::int32_t> used;
        double load = load_of(graph_.task_count());
        std::int32_t at = 0;
        for (int depth = 0; depth < tree_.levels(); ++depth) {
            used.push_back(static_cast<std::int32_t>(used_children(at, load).size()));
            load /= used.back();
            at = tree_.groups()[static_cast<std::size_t>(at)].first_child;
        }
        return used;
    }

  private:
    double load_of(TaskIndex tasks) const {
        double load = 0;
        for (TaskIndex t = 0; t < tasks; ++t) load += bounds_.size(graph_, t);
        return load;
    }
    double most(std::int32_t group) const {
        const ProcessorTree::Group& about = tree_.groups()[static_cast<std::size_t>(group)];
        return most_before_[static_cast<std::size_t>(about.first_processor + about.processor_count)] -
               most_before_[static_cast<std::size_t>(about.first_processor)];
    }
    std::vector<std::int32_t> used_children(std::int32_t group, double load) const {
        const ProcessorTree::Group& about = tree_.groups()[static_cast<std::size_t>(group)];
        std::vector<std::int32_t> children(static_cast<std::size_t>(about.child_count));
        std::iota(children.begin(), children.end(), about.first_child);
        if (load >= kSparse * most(group)) return children;
        std::ranges::stable_sort(children, [&](std::int32_t a, std::int32_t b) { return most(a) > most(b); });
        std::size_t used = 0;
        for (double room = 0; used < children.size() && (used == 0 || room < load * (1 - 1e-9)); ++used)
            room += most(children[used]);
        children.resize(used);
        return children;
    }

    void place(std::int32_t group, int depth, std::span<TaskIndex> tasks, const std::vector<Division>& plan) {
        const ProcessorTree::Group& about = tree_.groups()[static_cast<std::size_t>(group)];
        if (about.child_count == 0) {
            for (const TaskIndex t : tasks) processor_of_[static_cast<std::size_t>(t)] = about.first_processor;
            return;
        }
        double load = 0;
        for (const TaskIndex t : tasks) load += bounds_.size(graph_, t);
        const std::vector<std::int32_t> children = used_children(group, load);
        const Division& wanted = plan[static_cast<std::size_t>(depth)];
        const bool fits = static_cast<std::size_t>(wanted[0] * wanted[1] * wanted[2]) == children.size();
        // A group with other children than most is cut along its fastest side.
        cut(fits ? wanted : Division{1, 1, static_cast<std::int32_t>(children.size())}, 0, children, depth, tasks,
            plan);
    }

    /// Cuts tasks across `side` into slabs as large as the children they are for, and these across the next side.
    void cut(const Division& division, std::size_t side, std::span<const std::int32_t> children, int depth,
             std::span<TaskIndex> tasks, const std::vector<Division>& plan) {
        if (side == kSides) return place(children[0], depth + 1, tasks, plan);
        const auto parts = static_cast<std::size_t>(division[side]);
        const std::size_t in_part = children.size() / parts;
        if (parts > 1) {
            std::ranges::sort(tasks, [&](TaskIndex a, TaskIndex b) {
                auto x = coordinates(a, shape_), y = coordinates(b, shape_);
                std::swap(x[0], x[side]);
                std::swap(y[0], y[side]);
                return x < y;
            });
        }
        double load_left = 0, most_left = 0;
        for (const TaskIndex t : tasks) load_left += bounds_.size(graph_, t);
        for (const std::int32_t child : children) most_left += most(child);
        for (std::size_t part = 0; part < parts; ++part) {
            const std::span<const std::int32_t> own = children.subspan(part * in_part, in_part);
            double room = 0;
            for (const std::int32_t child : own) room += most(child);
            const double share = most_left > 0 ? load_left * room / most_left : 0;
            double filled = 0;
            std::size_t end = 0;
            for (; end < tasks.size(); ++end) {
                const double size = bounds_.size(graph_, tasks[end]);
                if (part + 1 < parts && filled + size / 2 > share) break;
                filled += size;
            }
            cut(division, side + 1, own, depth, tasks.first(end), plan);
            tasks = tasks.subspan(end);
            load_left -= filled;
            most_left -= room;
        }
    }

    const TaskGraph& graph_;
    const ProcessorTree& tree_;
    const LoadBounds& bounds_;
    Shape shape_;
    std::vector<double> most_before_;
    std::vector<ProcessorIndex> processor_of_;
};

/// All ways to divide the sides among the levels, by what their borders cost; the best of them.
std::vector<std::vector<Division>> best_plans(const Shape& shape, const Sides& sides,
                                              const std::vector<std::int32_t>& children,
                                              const std::vector<double>& distances) {
    std::vector<std::vector<Division>> choices;
    double count = 1;
    for (const std::int32_t each : children) {
        choices.push_back(products(each));
        count *= static_cast<double>(choices.back().size());
    }
    if (count > static_cast<double>(kMostDivisions)) return {};
    std::vector<std::pair<double, std::vector<Division>>> found;
    std::vector<Division> plan(children.size());
    const auto choose = [&](const auto& self, std::size_t depth, const std::array<double, kSides>& extent, double cost,
                            bool even) -> void {
        if (depth == children.size()) {
            found.emplace_back(even ? cost : cost * kUneven, plan);
            return;
        }
        const double nearer = depth + 1 < distances.size() ? distances[depth + 1] : 0;
        for (const Division& division : choices[depth]) {
            std::array<double, kSides> inner{};
            double borders = 0;
            bool divides = even, possible = true;
            for (std::size_t side = 0; side < kSides; ++side) {
                inner[side] = extent[side] / division[side];
                possible = possible && (division[side] == 1 || inner[side] > 0.5);
                divides = divides && inner[side] == std::floor(inner[side]);
                const double cuts = shape[side] / std::max(1.0, inner[side]);
                borders += sides.bytes[side] * (sides.is_ring[side] && cuts > 1 ? cuts : cuts - 1);
            }
            if (!possible) continue;
            plan[depth] = division;
            self(self, depth + 1, inner, cost + borders * (distances[depth] - nearer), divides);
        }
    };
    choose(choose, 0, {static_cast<double>(shape[0]), static_cast<double>(shape[1]), static_cast<double>(shape[2])}, 0,
           true);
    const std::size_t kept = std::min(kDivisions, found.size());
    std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(kept), {},
                              &std::pair<double, std::vector<Division>>::first);
    std::vector<std::vector<Division>> plans;
    for (std::size_t i = 0; i < kept; ++i) plans.push_back(std::move(found[i].second));
    return plans;
}

double tiling_cost(const TaskGraph& graph, const ProcessorTree& tree, const std::vector<ProcessorIndex>& processor_of) {
    double cost = 0;
    for (const TaskEdge& edge : graph.edges())
        cost += edge.bytes * tree.distance(processor_of[static_cast<std::size_t>(edge.u)],
                                           processor_of[static_cast<std::size_t>(edge.v)]);
    return cost;
}

}  // namespace

std::vector<std::vector<ProcessorIndex>> grid_tilings(const TaskGraph& graph, const ProcessorTree& tree,
                                                      const LoadBounds& bounds) {
    if (graph.task_count() < 4 || graph.edge_count() == 0) return {};
    std::vector<double> distances;  // between children of a group, root first
    std::int32_t at = 0;
    for (int depth = 0; depth < tree.levels(); ++depth) {
        distances.push_back(tree.groups()[static_cast<std::size_t>(at)].distance);
        at = tree.groups()[static_cast<std::size_t>(at)].first_child;
    }
    std::vector<std::pair<double, std::vector<ProcessorIndex>>> found;
    for (const Shape& shape : find_shapes(graph)) {
        Tiling tiling(graph, tree, bounds, shape);
        for (const auto& plan : best_plans(shape, measure_sides(graph, shape), tiling.children_used(), distances)) {
            std::vector<ProcessorIndex> processor_of = tiling.map(plan);
            const double cost = tiling_cost(graph, tree, processor_of);
            found.emplace_back(cost, std::move(processor_of));
        }
    }
    std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
    std::vector<std::vector<ProcessorIndex>> mappings;
    for (std::size_t i = 0; i < std::min(kMappings, found.size()); ++i) mappings.push_back(std::move(found[i].second));
    return mappings;
}

}  // namespace zbs
