#include "tests/unit/learning/kernels.hpp"

#include <map>
#include <ostream>

#include "algorithms/base/rng.hpp"
#include "tests/support/made_graph.hpp"

namespace zbs::learning::test {
namespace {

constexpr double kSteps = 100, kWord = 8;

/// What all ranks send, added up by pair.
class Sends {
  public:
    void send(int from, int to, double bytes, double messages = 1) {
        if (from == to) return;
        TaskEdge& edge = pairs_
                             .try_emplace({std::min(from, to), std::max(from, to)},
                                          TaskEdge{std::min(from, to), std::max(from, to), 0, 0})
                             .first->second;
        edge.bytes += bytes;
        edge.messages += messages;
    }
    TaskGraph graph(int ranks, double work) const {
        std::vector<TaskEdge> edges;
        for (const auto& [pair, edge] : pairs_) edges.push_back(edge);
        return zbs::test::made(std::vector<double>(static_cast<std::size_t>(ranks), work / ranks), std::move(edges));
    }

  private:
    std::map<std::pair<int, int>, TaskEdge> pairs_;
};

/// `points` on a side; neighbours inside `reach` of each other's corner count: 1 = faces, 2 = edges too, 3 = corners
/// too.
struct Grid {
    int dimensions, points, reach;
    bool periodic = false;
    std::vector<int> fixed{};  ///< dims; empty: MPI_Dims_create
};

void send_halos(Sends& sends, const Grid& grid, int ranks) {
    std::vector<int> dims = grid.fixed.empty() ? dims_of(ranks, grid.dimensions) : grid.fixed;
    dims.resize(3, 1);
    std::vector<double> local;
    for (int d = 0; d < 3; ++d) local.push_back(d < grid.dimensions ? static_cast<double>(grid.points) / dims[d] : 1);
    for (int rank = 0; rank < ranks; ++rank) {
        const int at[3] = {rank / (dims[1] * dims[2]), rank / dims[2] % dims[1], rank % dims[2]};
        for (int dx = -1; dx <= 1; ++dx)
            for (int dy = -1; dy <= 1; ++dy)
                for (int dz = -1; dz <= 1; ++dz) {
                    const int offset[3] = {dx, dy, dz};
                    int to[3], parts = 0;
                    double bytes = kWord;
                    bool inside = true;
                    for (int d = 0; d < 3; ++d) {
                        to[d] = at[d] + offset[d];
                        parts += offset[d] != 0;
                        if (offset[d] == 0) bytes *= local[d];
                        if (offset[d] != 0 && dims[d] == 1) inside = false;
                        if (to[d] < 0 || to[d] >= dims[d]) inside &= grid.periodic;
                        to[d] = (to[d] + dims[d]) % dims[d];
                    }
                    if (inside && parts > 0 && parts <= grid.reach)
                        sends.send(rank, (to[0] * dims[1] + to[1]) * dims[2] + to[2], kSteps * bytes, kSteps);
                }
    }
}

Kernel stencil(std::string name, Grid grid) {
    return {std::move(name), [grid](int ranks) {
                Sends sends;
                send_halos(sends, grid, ranks);
                return sends.graph(ranks, 1);
            }};
}

}  // namespace

void PrintTo(const Kernel& kernel, std::ostream* out) { *out << kernel.name; }

std::vector<int> dims_of(int ranks, int dimensions) {
    static const std::map<std::pair<int, int>, std::vector<int>> table = {
        {{8, 2}, {4, 2}},     {{12, 2}, {4, 3}},     {{16, 2}, {4, 4}},     {{24, 2}, {6, 4}},     {{32, 2}, {8, 4}},
        {{36, 2}, {6, 6}},    {{48, 2}, {8, 6}},     {{64, 2}, {8, 8}},     {{96, 2}, {12, 8}},    {{100, 2}, {10, 10}},
        {{128, 2}, {16, 8}},  {{256, 2}, {16, 16}},  {{8, 3}, {2, 2, 2}},   {{12, 3}, {3, 2, 2}},  {{16, 3}, {4, 2, 2}},
        {{24, 3}, {4, 3, 2}}, {{27, 3}, {3, 3, 3}},  {{32, 3}, {4, 4, 2}},  {{48, 3}, {4, 4, 3}},  {{64, 3}, {4, 4, 4}},
        {{96, 3}, {6, 4, 4}}, {{125, 3}, {5, 5, 5}}, {{128, 3}, {8, 4, 4}}, {{216, 3}, {6, 6, 6}},
    };
    return dimensions == 1 ? std::vector<int>{ranks} : table.at({ranks, dimensions});
}

Kernel chain() { return stencil("chain", {1, 960, 1}); }
Kernel ring() { return stencil("ring", {1, 960, 1, true}); }
Kernel plane() { return stencil("plane", {2, 960, 1}); }
Kernel plane_of_nine() { return stencil("plane_of_nine", {2, 960, 2}); }
Kernel torus() { return stencil("torus", {2, 960, 1, true}); }
Kernel box() { return stencil("box", {3, 96, 1}); }
Kernel box_of_27() { return stencil("box_of_27", {3, 96, 3}); }
Kernel strips() {
    return {"strips", [](int ranks) {
                Sends sends;
                send_halos(sends, {2, 960, 1, false, {ranks / 4, 4}}, ranks);
                return sends.graph(ranks, 1);
            }};
}

Kernel transposition() {
    return {"transposition", [](int ranks) {
                Sends sends;
                for (int from = 0; from < ranks; ++from)
                    for (int to = 0; to < ranks; ++to) sends.send(from, to, 1e9 / ranks / ranks);
                return sends.graph(ranks, 1);
            }};
}

Kernel broadcast() {
    return {"broadcast", [](int ranks) {
                Sends sends;
                for (int step = 1; step < ranks; step *= 2)  // who has it hands it on, the farthest first
                    for (int rank = step; rank < ranks; rank += 2 * step) sends.send(rank - step, rank, 1e6);
                return sends.graph(ranks, 1);
            }};
}

Kernel gathering() {
    return {"gathering", [](int ranks) {
                Sends sends;
                std::vector<double> held(static_cast<std::size_t>(ranks), 1e8 / ranks);
                for (int step = 1; step < ranks; step *= 2)
                    for (int rank = step; rank < ranks; rank += 2 * step) {
                        sends.send(rank, rank - step, held[static_cast<std::size_t>(rank)]);
                        held[static_cast<std::size_t>(rank - step)] += held[static_cast<std::size_t>(rank)];
                    }
                return sends.graph(ranks, 1);
            }};
}

Kernel butterfly() {
    return {"butterfly", [](int ranks) {
                Sends sends;
                for (int step = 1; step < ranks; step *= 2)
                    for (int rank = 0; rank < ranks; ++rank) sends.send(rank, rank ^ step, 1e9 / ranks);
                return sends.graph(ranks, 1);
            }};
}

Kernel master_worker() {
    return {"master_worker", [](int ranks) {
                Sends sends;
                const double pieces = 10'000.0 / (ranks - 1);
                for (int worker = 1; worker < ranks; ++worker) {
                    sends.send(0, worker, pieces * 1e5, pieces);
                    sends.send(worker, 0, pieces * 1e3, pieces);
                }
                return sends.graph(ranks, 1);
            }};
}

Kernel pencils() {
    return {"pencils", [](int ranks) {
                Sends sends;
                const std::vector<int> dims = dims_of(ranks, 2);
                for (int a = 0; a < ranks; ++a)
                    for (int b = 0; b < ranks; ++b) {
                        if (a / dims[1] == b / dims[1]) sends.send(a, b, 1e9 / ranks / dims[1]);
                        if (a % dims[1] == b % dims[1]) sends.send(a, b, 1e9 / ranks / dims[0]);
                    }
                return sends.graph(ranks, 1);
            }};
}

Kernel plane_with_sum() {
    return {"plane_with_sum", [](int ranks) {
                Sends sends;
                send_halos(sends, {2, 960, 1}, ranks);
                for (int step = 1; step < ranks; step *= 2)
                    for (int rank = 0; rank < ranks; ++rank)
                        if ((rank ^ step) < ranks) sends.send(rank, rank ^ step, kSteps * kWord, kSteps);
                return sends.graph(ranks, 1);
            }};
}

Kernel random_pairs() {
    return {"random_pairs", [](int ranks) {
                Sends sends;
                Rng rng(static_cast<std::uint64_t>(ranks));
                for (int i = 0; i < 4 * ranks; ++i) {
                    const auto draw = [&] { return static_cast<int>(rng.below(static_cast<std::uint64_t>(ranks))); };
                    sends.send(draw(), draw(), 1e6 * rng.uniform());
                }
                return sends.graph(ranks, 1);
            }};
}

TaskGraph noisy(const TaskGraph& graph, double noise, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> compute;
    const auto factor = [&] { return 1 + noise * (2 * rng.uniform() - 1); };
    for (const double seconds : graph.compute()) compute.push_back(seconds * factor());
    std::vector<TaskEdge> edges;
    for (const TaskEdge& edge : graph.edges()) edges.push_back({edge.u, edge.v, edge.bytes * factor(), edge.messages});
    return zbs::test::made(std::move(compute), std::move(edges));
}

}  // namespace zbs::learning::test
