#include "algorithms/multilevel/multisection.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace zbs::multilevel {
namespace {

/// A group of the tree as multisection walks it: its leaves are begin..end.
struct Range {
    std::int32_t begin;
    std::int32_t end;
    std::int32_t level;  ///< of the group; children are at level - 1
};

std::int64_t capacity_of(const TargetTree& tree, std::int32_t begin, std::int32_t end) {
    return std::accumulate(tree.capacity.begin() + begin, tree.capacity.begin() + end, std::int64_t{0});
}

/// The children of a group: ranges of leaves.
std::vector<Range> children(const TargetTree& tree, const Range& range) {
    std::vector<Range> found;
    for (std::int32_t leaf = range.begin; leaf < range.end;) {
        std::int32_t end = leaf + 1;
        const std::int32_t group = tree.group_of(leaf, range.level - 1);
        while (end < range.end && tree.group_of(end, range.level - 1) == group) ++end;
        found.push_back({leaf, end, range.level - 1});
        leaf = end;
    }
    return found;
}

/// How much each child may take. Slack over the load is shared evenly (as factors) among this level and those below;
/// where the load is far below the capacity, as few children as hold it are used.
std::vector<std::int64_t> limits(const TargetTree& tree, const std::vector<Range>& parts, std::int64_t load,
                                 std::int32_t level) {
    std::vector<std::int64_t> room(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) room[i] = capacity_of(tree, parts[i].begin, parts[i].end);
    load = std::max<std::int64_t>(load, 1);
    std::int64_t all = std::accumulate(room.begin(), room.end(), std::int64_t{0});
    if (static_cast<double>(load) < 0.75 * static_cast<double>(all)) {
        std::vector<std::size_t> order(parts.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return room[a] > room[b]; });
        std::int64_t sum = 0;
        std::size_t used = 0;
        while (used < order.size() && sum < load) sum += room[order[used++]];
        // The smallest one that finishes the job instead of the next large one.
        if (used > 0) {
            const std::int64_t missing = load - (sum - room[order[used - 1]]);
            std::size_t choice = used - 1;
            for (std::size_t i = used; i < order.size(); ++i)
                if (room[order[i]] >= missing) choice = i;
            std::swap(order[used - 1], order[choice]);
        }
        for (std::size_t i = used; i < order.size(); ++i) room[order[i]] = 0;
        all = std::accumulate(room.begin(), room.end(), std::int64_t{0});
    }
    const double slack = static_cast<double>(all) / std::max<double>(1, static_cast<double>(load));
    const double share = std::pow(std::max(1.0, slack), std::min(1.0, 1.8 / level));
    for (std::int64_t& most : room) {
        if (most == 0) continue;
        const double wanted = static_cast<double>(load) * static_cast<double>(most) / static_cast<double>(all);
        most = std::min(most, static_cast<std::int64_t>(std::ceil(wanted * share)));
    }
    return room;
}

/// A group of processors and the tasks that go there.
struct Section {
    CompactGraph own;
    const CompactGraph* whole = nullptr;  // of the first section: the caller's graph, not copied
    std::vector<Vertex> names;
    Range range;
    std::uint64_t seed = 0;

    const CompactGraph& graph() const { return whole != nullptr ? *whole : own; }
};

/// What a section is cut into.
struct Cut {
    std::vector<Range> parts;  // that take anything
    std::vector<std::int64_t> capacity;
    std::vector<std::int32_t> part_of;
};

class Multisection {
  public:
    Multisection(const CompactGraph& graph, const TargetTree& tree, const Recipe& recipe, TaskRunner& runner)
        : graph_(graph), tree_(tree), recipe_(recipe), runner_(runner) {}

    std::vector<std::int32_t> run(std::uint64_t seed) {
        leaf_of_.assign(static_cast<std::size_t>(graph_.vertex_count()), 0);
        std::vector<Section> sections(1);
        sections[0].whole = &graph_;
        sections[0].names.resize(leaf_of_.size());
        std::iota(sections[0].names.begin(), sections[0].names.end(), 0);
        sections[0].range = {0, tree_.leaves, tree_.levels};
        sections[0].seed = seed;
        while (!sections.empty()) sections = cut_level(std::move(sections));
        return std::move(leaf_of_);
    }

  private:
    std::vector<Section> cut_level(std::vector<Section> sections) {
        std::vector<Cut> cuts(sections.size());
        for (std::size_t i = 0; i < sections.size(); ++i) cuts[i] = parts_of(sections[i]);
        if (sections.size() == 1) {
            cut_alone(sections[0], cuts[0]);
        } else {
            runner_.run(static_cast<int>(sections.size()), [&](int i) {
                Section& section = sections[static_cast<std::size_t>(i)];
                Cut& cut = cuts[static_cast<std::size_t>(i)];
                if (cut.parts.size() <= 1) return;
                Rng rng(mix(section.seed, 0));
                cut.part_of = evolve(section.graph(), cut.capacity, rng, effort_of(section), evolution_of(section), {});
            });
        }
        std::vector<Section> next;
        for (std::size_t i = 0; i < sections.size(); ++i) descend(std::move(sections[i]), cuts[i], next);
        return next;
    }

    Cut parts_of(const Section& section) const {
        Cut cut;
        const std::vector<Range> parts = children(tree_, section.range);
        const std::vector<std::int64_t> limit = limits(tree_, parts, section.graph().total, section.range.level);
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (limit[p] == 0) continue;
            cut.parts.push_back(parts[p]);
            cut.capacity.push_back(limit[p]);
        }
        return cut;
    }

    bool is_top(const Section& section) const { return section.range.level == tree_.levels; }
    const Effort& effort_of(const Section& section) const { return is_top(section) ? recipe_.section : recipe_.lower; }
    Evolution evolution_of(const Section& section) const {
        if (is_top(section)) return recipe_.top;
        Evolution evolution = section.range.level == 1 ? recipe_.last : recipe_.middle;
        // The larger the whole, the less often it can be done again; the top cut is evolved on a coarse graph anyway.
        const double factor = std::min(
            1.0, 2.0 * static_cast<double>(recipe_.section.large) / static_cast<double>(graph_.vertex_count()));
        evolution.population = std::max(1, static_cast<int>(evolution.population * factor));
        evolution.generations = static_cast<int>(evolution.generations * factor);
        return evolution;
    }

    /// Islands side by side, then their best together.
    void cut_alone(const Section& section, Cut& cut) {
        if (cut.parts.size() <= 1) return;
        const Effort& effort = effort_of(section);
        Rng rng(mix(section.seed, 77));
        const GraphLevels levels = coarsen_large(section.graph(), effort, rng);
        const CompactGraph& graph = levels.coarsest();
        std::vector<std::vector<std::int32_t>> found(static_cast<std::size_t>(recipe_.islands));
        runner_.run(recipe_.islands, [&](int island) {
            Rng own(mix(section.seed, static_cast<std::uint64_t>(island)));
            found[static_cast<std::size_t>(island)] =
                evolve(graph, cut.capacity, own, effort, evolution_of(section), {});
        });
        Evolution meeting = evolution_of(section);
        meeting.population = 0;
        meeting.generations = recipe_.islands > 1 ? std::max(1, meeting.generations / 8) : 0;
        cut.part_of = evolve(graph, cut.capacity, rng, effort, meeting, std::move(found));
        if (!levels.coarse.empty()) search_up(levels, make_star(cut.capacity), cut.part_of, rng, effort);
    }

    void descend(Section section, Cut& cut, std::vector<Section>& next) {
        if (cut.part_of.empty()) cut.part_of.assign(section.names.size(), 0);
        std::vector<Vertex> local;
        const auto parts = static_cast<std::int32_t>(std::max<std::size_t>(1, cut.parts.size()));
        std::vector<CompactGraph> graphs = split(section.graph(), cut.part_of, parts, local);
        std::vector<std::vector<Vertex>> names(graphs.size());
        for (std::size_t v = 0; v < cut.part_of.size(); ++v)
            names[static_cast<std::size_t>(cut.part_of[v])].push_back(section.names[v]);
        for (std::size_t p = 0; p < cut.parts.size(); ++p) {
            const Range& range = cut.parts[p];
            if (names[p].empty()) continue;
            if (range.end - range.begin == 1) {
                for (const Vertex v : names[p]) leaf_of_[static_cast<std::size_t>(v)] = range.begin;
                continue;
            }
            next.push_back({.own = std::move(graphs[p]),
                            .whole = nullptr,
                            .names = std::move(names[p]),
                            .range = range,
                            .seed = mix(section.seed, 100 + p)});
        }
    }

    const CompactGraph& graph_;
    const TargetTree& tree_;
    const Recipe& recipe_;
    TaskRunner& runner_;
    std::vector<std::int32_t> leaf_of_;
};

}  // namespace

std::vector<std::int32_t> multisection(const CompactGraph& graph, const TargetTree& tree, const Recipe& recipe,
                                       std::uint64_t seed, TaskRunner& runner) {
    return Multisection(graph, tree, recipe, runner).run(seed);
}

}  // namespace zbs::multilevel
