#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/model/task_graph.hpp"

namespace zbs::learning::test {

/// A parallel program whose communication is known for every number of ranks, written down as each rank's sends, apart
/// from the patterns that it is compared with. The problem is the same on any number of ranks (strong scaling).
struct Kernel {
    std::string name;
    std::function<TaskGraph(int ranks)> graph;
};
void PrintTo(const Kernel& kernel, std::ostream* out);

/// Process grids as MPI_Dims_create gives them, from a table made with MPICH's rules by hand.
std::vector<int> dims_of(int ranks, int dimensions);

Kernel chain();
Kernel ring();
Kernel plane();          ///< 5-point stencil, 960 x 960 points
Kernel plane_of_nine();  ///< 9-point stencil: corners carry one point
Kernel torus();          ///< 5-point stencil, periodic
Kernel box();            ///< 7-point stencil, 96^3 points
Kernel box_of_27();
Kernel strips();          ///< 4 columns of ranks, whatever their number
Kernel transposition();   ///< each with each
Kernel broadcast();       ///< binomial tree, all get the same
Kernel gathering();       ///< binomial tree, parts grow towards the root
Kernel butterfly();       ///< FFT: partners rank xor 2^k exchange their halves; powers of two only
Kernel master_worker();   ///< rank 0 deals out 10,000 pieces of work
Kernel pencils();         ///< 3-D FFT: each with each in its row, then in its column
Kernel plane_with_sum();  ///< 5-point stencil, and a sum over all by recursive doubling after each step
Kernel random_pairs();    ///< no pattern

/// Every volume times a random factor in [1 - noise, 1 + noise).
TaskGraph noisy(const TaskGraph& graph, double noise, std::uint64_t seed);

}  // namespace zbs::learning::test
