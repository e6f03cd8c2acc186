#pragma once
#include <cstdint>

#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::test {

/// Families of task graphs for benchmarks. Equal arguments give equal graphs. O(edges log edges).

/// Grid of x * y * z tasks with 6 neighbours each, or all 26: then faces, edges and corners weigh 64 : 8 : 1.
/// Compute 1.
TaskGraph stencil(int x, int y, int z, bool corners);
/// Triangulated plane of about `tasks` points with round holes; some regions have tasks of work 4. Unit traffic.
TaskGraph mesh_with_holes(int tasks, std::uint64_t seed);
/// Points in the unit square, tied where they are near: about `degree` neighbours each. Unit weights.
TaskGraph random_geometric(int tasks, double degree, std::uint64_t seed);
/// Power-law graph [Chakrabarti2004] with 2^scale tasks less those without traffic; pairs drawn twice weigh 2.
TaskGraph rmat(int scale, int draws, std::uint64_t seed);
/// A master and teams that talk among themselves (all pairs) far more than with the master, like the TRANSPORT kernel;
/// task numbers are dealt to the teams in turn. Bytes and messages as of `cycles` outer steps with 10 inner ones each.
TaskGraph transport(int teams, int team_size, int cycles, std::uint64_t seed);

struct UnevenOptions {
    int zones = 4;
    int most_machines = 6;     ///< of a zone; at least 1
    int most_processors = 8;   ///< of a machine; at least 1
    double fastest = 3;        ///< speed; the slowest is 1
    double slowest_link = 16;  ///< delay of a pair of zones over the least one
};
/// Zones of different size, speed, delay and bandwidth.
ResourceGraph uneven_zones(const UnevenOptions& options, std::uint64_t seed);

}  // namespace zbs::test
