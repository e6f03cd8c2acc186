#include "algorithms/multilevel/recipe.hpp"

namespace zbs::multilevel {

std::uint64_t mix(std::uint64_t seed, std::uint64_t salt) {
    std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (salt + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

Recipe recipe_of(Level level) {
    Recipe recipe;
    switch (level) {
        case Level::kFast:
            recipe.section = {.pairs = false, .restarts = 1, .tries = 4, .search = {.rounds = 1, .patience = 60}};
            recipe.lower = recipe.section;
            recipe.lower.tries = 2;
            recipe.lower.greedy_only = true;
            recipe.top = {.population = 2, .generations = 1};
            recipe.cycle = {.pairs = false, .coarsest = 8, .search = {.rounds = 1, .patience = 60}};
            recipe.cycles = 0;
            recipe.proposals = 60'000;
            break;
        case Level::kDefault:
            recipe.section = {.pairs = false,
                              .tries = 4,
                              .search = {.rounds = 1, .patience = 30, .batch = 30},
                              .flow = {.rounds = 2, .reach = 3}};
            recipe.lower = recipe.section;
            recipe.lower.flow.rounds = 1;
            recipe.top = {.population = 3, .generations = 5};
            recipe.middle = {.population = 2, .generations = 1};
            recipe.last = {.population = 1, .generations = 1};
            recipe.islands = 2;
            recipe.cycle = {.pairs = false, .coarsest = 8, .search = {.rounds = 3, .patience = 200}};
            recipe.cycles = 2;
            recipe.proposals = 500'000;
            break;
        case Level::kStrong:
            recipe.section = {.pairs = false,
                              .restarts = 5,
                              .tries = 10,
                              .search = {.rounds = 2, .patience = 30, .batch = 10},
                              .flow = {.rounds = 3, .reach = 6}};
            recipe.lower = recipe.section;
            recipe.lower.flow.rounds = 2;
            recipe.top = {.population = 8, .generations = 16};
            recipe.middle = {.population = 4, .generations = 8};
            recipe.last = {.population = 3, .generations = 5};
            recipe.islands = 2;
            recipe.cycle = {.pairs = false, .coarsest = 8, .search = {.rounds = 3, .patience = 30, .batch = 5}};
            recipe.cycles = 2;
            recipe.proposals = 10'000'000;
            break;
    }
    return recipe;
}

Recipe recipe_of_large() {
    Recipe recipe = recipe_of(Level::kFast);
    recipe.section.search = {.rounds = 1, .patience = 30, .batch = 30};
    recipe.section.flow = {.rounds = 1, .reach = 3};
    recipe.lower = recipe.section;
    recipe.cycle.search = {.rounds = 1, .patience = 30, .batch = 30};
    return recipe;
}

}  // namespace zbs::multilevel
