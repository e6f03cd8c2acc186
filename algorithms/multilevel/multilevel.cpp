#include "algorithms/multilevel/multilevel.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/multilevel/annealing.hpp"
#include "algorithms/multilevel/local_search.hpp"
#include "algorithms/multilevel/multisection.hpp"
#include "algorithms/multilevel/partitioner.hpp"
#include "algorithms/multilevel/recipe.hpp"

namespace zbs::multilevel {

namespace {

/// Where every move costs hundreds of visits and cuts differ little.
bool is_dense(const CompactGraph& graph) {
    constexpr std::size_t kArcs = 1 << 20, kDegree = 256;
    return graph.arcs.size() >= kArcs && graph.arcs.size() >= kDegree * static_cast<std::size_t>(graph.vertex_count());
}

Level less_than(Level level) { return level == Level::kStrong ? Level::kDefault : Level::kFast; }

}  // namespace

std::vector<std::int32_t> map(const CompactGraph& graph, const TargetTree& tree, const MultilevelOptions& options) {
    SerialRunner serial;
    TaskRunner& runner = options.runner != nullptr ? *options.runner : serial;
    Recipe recipe = recipe_of(is_dense(graph) ? less_than(options.level) : options.level);
    recipe.section.out_of_time = recipe.lower.out_of_time = recipe.cycle.out_of_time = &options.out_of_time;
    Rng rng(mix(options.seed, 5));
    const bool small = fits_annealing(graph, tree) && graph.vertex_count() <= 1024;
    if (small) recipe.top.population = std::max(recipe.top.population, 6);  // costs next to nothing
    std::vector<std::int32_t> leaf_of;
    if (options.start != nullptr) {
        leaf_of = *options.start;
        recipe.cycles = std::max(recipe.cycles, 1);
    } else if (options.level == Level::kFast && graph.vertex_count() > 3 * recipe.section.large) {
        Recipe large = recipe_of_large();
        large.section.out_of_time = large.lower.out_of_time = &options.out_of_time;
        std::vector<std::int32_t> none;
        const std::int64_t coarsest =
            std::max<std::int64_t>({large.section.large, 16 * tree.leaves, graph.vertex_count() / 8});
        const GraphLevels levels =
            coarsen(graph, none, coarsest, std::max<std::int64_t>(1, 2 * graph.total / coarsest), false, rng);
        leaf_of = multisection(levels.coarsest(), tree, large, options.seed, runner);
        search_up(levels, tree, leaf_of, rng, large.cycle);
    } else {
        leaf_of = multisection(graph, tree, recipe, options.seed, runner);
    }
    {
        Placement placement(graph, tree, std::move(leaf_of));
        repair_balance(placement, rng);
        leaf_of = std::move(placement.leaf_of);
    }
    if (graph.vertex_count() > 3 * recipe.section.large) recipe.cycles = std::min(recipe.cycles, 1);
    if (!small) {
        for (int i = 0; i < recipe.cycles && !recipe.cycle.is_over(); ++i)
            v_cycle(graph, tree, leaf_of, {}, rng, recipe.cycle);
    }
    if (small && graph.vertex_count() > 0) {
        // An accepted change costs a walk over the neighbours: dense graphs get fewer proposals for the same time.
        const double degree = static_cast<double>(graph.arcs.size()) / static_cast<double>(graph.vertex_count());
        // A handful of tasks has few changes to try.
        const double most = static_cast<double>(recipe.proposals);
        const double few = std::max(40'000.0, most * static_cast<double>(graph.vertex_count()) / 256);
        const auto proposals = static_cast<std::int64_t>(std::min(most, few) / (1 + degree / 40));
        const Placement start(graph, tree, std::move(leaf_of));
        std::vector<Placement> ends(static_cast<std::size_t>(recipe.islands), start);
        if (start.overload() == 0) {
            runner.run(recipe.islands, [&](int island) {
                Rng own(mix(options.seed, 1000 + static_cast<std::uint64_t>(island)));
                // With few tasks a bad start is a deep basin, and hot enough to forget it costs little.
                const double hot = graph.vertex_count() <= 64 ? 2 : 0.5;
                anneal(ends[static_cast<std::size_t>(island)], own, {.proposals = proposals, .hot = hot},
                       options.out_of_time);
            });
        }
        const auto best = std::min_element(ends.begin(), ends.end(),
                                           [](const Placement& a, const Placement& b) { return a.cost() < b.cost(); });
        leaf_of = std::move(best->leaf_of);
    }
    return leaf_of;
}

}  // namespace zbs::multilevel
