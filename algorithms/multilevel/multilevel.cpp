#include "algorithms/multilevel/multilevel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/multilevel/annealing.hpp"
#include "algorithms/multilevel/local_search.hpp"
#include "algorithms/multilevel/partitioner.hpp"

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

/// One call of partition or of a V-cycle costs about this many vertices and arcs; budgets count them.
std::int64_t size_of(const CompactGraph& graph) {
    return graph.vertex_count() + static_cast<std::int64_t>(graph.arcs.size());
}

/// How a preset spends its time.
struct Recipe {
    Effort section;    ///< cutting all into zones
    Effort lower;      ///< cutting a group below
    Evolution top;     ///< of the first cut, whose edges cost most
    Evolution middle;  ///< of the cuts between
    Evolution last;    ///< of the last cut, into processors
    int islands = 1;   ///< independent populations of a cut that is alone on its level
    Effort cycle;      ///< V-cycles on the true objective
    int cycles = 1;
    std::int64_t proposals = 0;  ///< of annealing, small graphs
    double hot = 0.3;
};

/// A group of processors and the tasks that go there.
struct Section {
    CompactGraph graph;
    std::vector<Vertex> names;
    Range range;
    std::uint64_t seed;
};

std::uint64_t mix(std::uint64_t seed, std::uint64_t salt) {
    std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (salt + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// Multisection: all into zones, each zone into machines, each machine into processors; level by level, the sections of
/// a level side by side.
std::vector<std::int32_t> multisect(const CompactGraph& graph, const TargetTree& tree, const Recipe& recipe,
                                    std::uint64_t seed, TaskRunner& runner) {
    std::vector<std::int32_t> leaf_of(static_cast<std::size_t>(graph.vertex_count()), 0);
    std::vector<Section> sections(1);
    sections[0] = {graph, std::vector<Vertex>(leaf_of.size()), {0, tree.leaves, tree.levels}, seed};
    std::iota(sections[0].names.begin(), sections[0].names.end(), 0);
    while (!sections.empty()) {
        struct Cut {
            std::vector<Range> parts;  // that take anything
            std::vector<std::int64_t> capacity;
            std::vector<std::vector<std::int32_t>> found;  // by island
        };
        std::vector<Cut> cuts(sections.size());
        const int islands = sections.size() == 1 ? recipe.islands : 1;
        const auto evolution_of = [&](const Section& section) {
            return section.range.level == tree.levels ? recipe.top
                   : section.range.level == 1         ? recipe.last
                                                      : recipe.middle;
        };
        for (std::size_t i = 0; i < sections.size(); ++i) {
            const Section& section = sections[i];
            const std::vector<Range> parts = children(tree, section.range);
            const std::vector<std::int64_t> limit = limits(tree, parts, section.graph.total, section.range.level);
            for (std::size_t p = 0; p < parts.size(); ++p) {
                if (limit[p] == 0) continue;
                cuts[i].parts.push_back(parts[p]);
                cuts[i].capacity.push_back(limit[p]);
            }
            cuts[i].found.resize(static_cast<std::size_t>(islands));
        }
        runner.run(static_cast<int>(sections.size()) * islands, [&](int job) {
            const auto i = static_cast<std::size_t>(job / islands);
            const Section& section = sections[i];
            Cut& cut = cuts[i];
            std::vector<std::int32_t>& found = cut.found[static_cast<std::size_t>(job % islands)];
            if (cut.parts.size() <= 1) {
                found.assign(section.names.size(), 0);
                return;
            }
            Rng rng(mix(section.seed, static_cast<std::uint64_t>(job % islands)));
            found =
                evolve(section.graph, cut.capacity, rng,
                       section.range.level == tree.levels ? recipe.section : recipe.lower, evolution_of(section), {});
        });
        std::vector<Section> next;
        for (std::size_t i = 0; i < sections.size(); ++i) {
            Section& section = sections[i];
            Cut& cut = cuts[i];
            std::vector<std::int32_t> part = std::move(cut.found[0]);
            if (islands > 1 && cut.parts.size() > 1 && section.graph.vertex_count() <= recipe.section.large) {
                cut.found[0] = std::move(part);
                Rng rng(mix(section.seed, 77));
                Evolution meeting = evolution_of(section);
                meeting.population = 0;
                meeting.generations = std::max(1, meeting.generations / 8);
                part = evolve(section.graph, cut.capacity, rng,
                              section.range.level == tree.levels ? recipe.section : recipe.lower, meeting,
                              std::move(cut.found));
            }
            std::vector<Vertex> local;
            std::vector<CompactGraph> graphs = split(
                section.graph, part, static_cast<std::int32_t>(std::max<std::size_t>(1, cut.parts.size())), local);
            std::vector<std::vector<Vertex>> names(graphs.size());
            for (std::size_t v = 0; v < part.size(); ++v)
                names[static_cast<std::size_t>(part[v])].push_back(section.names[v]);
            for (std::size_t p = 0; p < cut.parts.size(); ++p) {
                const Range& range = cut.parts[p];
                if (names[p].empty()) continue;
                if (range.end - range.begin == 1) {
                    for (const Vertex v : names[p]) leaf_of[static_cast<std::size_t>(v)] = range.begin;
                    continue;
                }
                next.push_back({std::move(graphs[p]), std::move(names[p]), range, mix(section.seed, 100 + p)});
            }
        }
        sections = std::move(next);
    }
    return leaf_of;
}

Recipe recipe_of(Level level) {
    Recipe recipe;
    switch (level) {
        case Level::kFast:
            recipe.section = {
                .pairs = false, .restarts = 1, .tries = 4, .coarsest = 40, .search = {.rounds = 1, .patience = 60}};
            recipe.lower = recipe.section;
            recipe.lower.tries = 2;
            recipe.lower.greedy_only = true;
            recipe.top = {.population = 2, .generations = 1};
            recipe.cycle = {.pairs = false, .coarsest = 8, .search = {.rounds = 1, .patience = 60}};
            recipe.cycles = 0;
            recipe.proposals = 60'000;
            break;
        case Level::kDefault:
            recipe.section = {.pairs = false, .tries = 4, .coarsest = 40, .search = {.rounds = 3, .patience = 200}};
            recipe.lower = recipe.section;
            recipe.top = {.population = 4, .generations = 8};
            recipe.middle = {.population = 2, .generations = 3};
            recipe.last = {.population = 1, .generations = 2};
            recipe.islands = 2;
            recipe.cycle = {.pairs = false, .coarsest = 8, .search = {.rounds = 3, .patience = 200}};
            recipe.cycles = 2;
            recipe.proposals = 500'000;
            break;
        case Level::kStrong:
            recipe.section = {.pairs = false,
                              .restarts = 5,
                              .tries = 10,
                              .coarsest = 40,
                              .search = {.rounds = 2, .patience = 30, .batch = 10}};
            recipe.lower = recipe.section;
            recipe.top = {.population = 8, .generations = 24};
            recipe.middle = {.population = 5, .generations = 12};
            recipe.last = {.population = 4, .generations = 8};
            recipe.islands = 2;
            recipe.cycle = {.pairs = false, .coarsest = 8, .search = {.rounds = 3, .patience = 30, .batch = 5}};
            recipe.cycles = 2;
            recipe.proposals = 10'000'000;
            break;
    }
    return recipe;
}

}  // namespace

std::vector<std::int32_t> map(const CompactGraph& graph, const TargetTree& tree, const MultilevelOptions& options) {
    SerialRunner serial;
    TaskRunner& runner = options.runner != nullptr ? *options.runner : serial;
    const Recipe recipe = recipe_of(options.level);
    Rng rng(mix(options.seed, 5));
    const bool small = fits_annealing(graph, tree) && graph.vertex_count() <= 1024;
    std::vector<std::int32_t> leaf_of;
    if (options.level == Level::kFast && size_of(graph) > 1'000'000) {
        std::vector<std::int32_t> none;
        const std::int64_t coarsest = std::max<std::int64_t>(recipe.section.large, 16 * tree.leaves);
        const GraphLevels coarse =
            coarsen(graph, none, coarsest, std::max<std::int64_t>(1, graph.total / coarsest * 3 / 2), false, rng);
        leaf_of = multisect(coarse.coarsest(), tree, recipe, options.seed, runner);
        for (std::size_t level = coarse.coarse.size() + 1; level-- > 0;) {
            Placement placement(coarse.at(level), tree, std::move(leaf_of));
            if (placement.overload() > 0) repair_balance(placement, rng);
            greedy_moves(placement, rng, 4);
            SearchOptions search = recipe.cycle.search;
            search.slack = placement.graph.heaviest;
            local_search(placement, rng, search);
            leaf_of = std::move(placement.leaf_of);
            if (level > 0) {
                std::vector<std::int32_t> fine(coarse.cluster[level - 1].size());
                for (std::size_t v = 0; v < fine.size(); ++v)
                    fine[v] = leaf_of[static_cast<std::size_t>(coarse.cluster[level - 1][v])];
                leaf_of = std::move(fine);
            }
        }
    } else {
        leaf_of = multisect(graph, tree, recipe, options.seed, runner);
    }
    {
        Placement placement(graph, tree, std::move(leaf_of));
        repair_balance(placement, rng);
        leaf_of = std::move(placement.leaf_of);
    }
    if (!small) {
        for (int i = 0; i < recipe.cycles; ++i) v_cycle(graph, tree, leaf_of, {}, rng, recipe.cycle);
    }
    if (small && graph.vertex_count() > 0) {
        // An accepted change costs a walk over the neighbours: dense graphs get fewer proposals for the same time.
        const double degree = static_cast<double>(graph.arcs.size()) / static_cast<double>(graph.vertex_count());
        const auto proposals = static_cast<std::int64_t>(static_cast<double>(recipe.proposals) / (1 + degree / 40));
        const Placement start(graph, tree, std::move(leaf_of));
        std::vector<Placement> ends(static_cast<std::size_t>(recipe.islands), start);
        if (start.overload() == 0) {
            runner.run(recipe.islands, [&](int island) {
                Rng own(mix(options.seed, 1000 + static_cast<std::uint64_t>(island)));
                anneal(ends[static_cast<std::size_t>(island)], own,
                       {.proposals = proposals, .hot = recipe.hot, .cold = 0.005}, options.out_of_time);
            });
        }
        const auto best = std::min_element(ends.begin(), ends.end(),
                                           [](const Placement& a, const Placement& b) { return a.cost() < b.cost(); });
        leaf_of = std::move(best->leaf_of);
    }
    return leaf_of;
}

}  // namespace zbs::multilevel
