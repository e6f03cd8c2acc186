#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"
#include "algorithms/model/trace.hpp"
#include "algorithms/sim/collectives.hpp"

namespace zbs {

/// The TRANSPORT-like kernel [Prabhakar2003, section 5.2, figure 5.1]: a master, rank 0, and teams. An external cycle
/// is one operation of the master with the team leaders, then `internal_cycles` operations in each team, each after a
/// compute block. tests/apps/transport_kernel.c is the same program for MPI.
struct TransportKernel {
    std::int32_t teams = 2;
    std::int32_t procs_per_team = 2;
    std::uint64_t bytes_intra_team = 1000;
    std::uint64_t bytes_inter_team = 1000;
    CollectiveKind op_intra_team = CollectiveKind::kAllgather;
    CollectiveKind op_inter_team = CollectiveKind::kBcast;
    std::int64_t external_cycles = 10;
    std::int64_t internal_cycles = 1000;
    std::int64_t turns_to_compute = 100'000;

    double seconds_per_turn = 1e-9;  ///< of the empty loop on a processor of speed 1; the thesis does not give it
    bool interleaved = false;        ///< rank r is in team (r - 1) % teams; else team 0 is ranks 1 .. procs_per_team

    std::int64_t rank_count() const { return 1 + std::int64_t{teams} * procs_per_team; }
};
/// Most events that a generator makes.
inline constexpr std::int64_t kMaxGeneratedEvents = 200'000'000;

/// Reads figure 5.1's parameter file: NAME=value words, any white space between them, each of the nine names once.
/// Errors have `SOURCE:LINE` as pointer.
Result<TransportKernel> parse_transport_parameters(std::string_view text, std::string_view source);
/// Errors, kTooLarge: more than kMaxGeneratedEvents events or Trace::kMaxRanks ranks.
Result<Trace> transport_trace(const TransportKernel& kernel);

/// A program of random messages [Prabhakar2003, section 5.4.2]: it reads lines "source destination" from a
/// communication pattern file, drawn at random. For the k-th line of a kind (pair of clusters), a message goes only
/// where k is a multiple of that kind's `every`; the source computes before it sends, the destination before it
/// receives.
struct RandomProgram {
    struct Rule {
        std::int32_t every = 1;  ///< 1: every line; 0: never
        double bytes = 1000;
    };
    std::vector<std::int32_t> cluster_of;  ///< by rank, 0 .. clusters - 1
    std::int32_t clusters = 1;
    std::vector<Rule> rules;  ///< clusters squared, by (cluster of the source, cluster of the destination)
    std::int64_t lines = 10'000;
    double compute_s = 1e-4;  ///< before every send and receive
    std::uint64_t seed = 1;

    const Rule& rule(std::int32_t from, std::int32_t to) const {
        return rules[static_cast<std::size_t>(from) * static_cast<std::size_t>(clusters) +
                     static_cast<std::size_t>(to)];
    }
};
/// Ranks dealt to clusters at random but evenly (sizes differ by at most one); every message inside a cluster, every
/// `every`-th between clusters.
struct RandomProgramOptions {
    std::int32_t ranks = 16;
    std::int32_t clusters = 4;
    std::int32_t every = 10;
    double bytes = 1000;
    std::int64_t lines = 10'000;
    double compute_s = 1e-4;
    std::uint64_t seed = 1;
};
/// Errors, kInvalidArgument: fewer than two ranks, no cluster or more clusters than ranks, lines or sizes out of range.
Result<RandomProgram> make_random_program(const RandomProgramOptions& options);
/// Preconditions: rules for all pairs of clusters, clusters in range, at least two ranks. Errors: kTooLarge.
Result<Trace> random_trace(const RandomProgram& program);

/// A task graph with planted clusters: each task draws `inside` partners in its cluster, with which it exchanges ten
/// times as much, and `outside` partners anywhere.
struct ClusteredGraph {
    int tasks = 64, clusters = 8;  ///< task t is in cluster t % clusters
    int inside = 8, outside = 2;
    std::uint64_t seed = 1;
};
/// Precondition: at least a task in each cluster. O(edges log edges).
TaskGraph clustered_graph(const ClusteredGraph& options);
/// `zones[z]` machines of one processor each in zone z; every pair of zones joined by `between`.
ResourceGraph flat_zones(const std::vector<int>& zones, const Link& between, const Link& within);

}  // namespace zbs
