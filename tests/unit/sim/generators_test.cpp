#include "algorithms/sim/generators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs {
namespace {

using testing::HasSubstr;

constexpr const char* kFigure51 =
    "NO_OF_TEAMS=2\nNO_OF_PROCS_PER_TEAM=2\nBYTES_INTRA_TEAM=1000\nBYTES_INTER_TEAM=1000\n"
    "OP_INTRA_TEAM=MPI_Allgather\nOP_INTER_TEAM=MPI_Bcast\nNO_OF_EXTERNAL_CYCLES=10\n"
    "NO_OF_INTERNAL_CYCLES=1000\nTIME_TO_COMPUTE=100000\n";

TEST(TransportKernel, ParameterFileIsRead) {
    const TransportKernel kernel = parse_transport_parameters(kFigure51, "p").value();
    EXPECT_EQ(kernel.rank_count(), 5);
    EXPECT_EQ(kernel.internal_cycles, 1000);
    EXPECT_EQ(kernel.op_inter_team, CollectiveKind::kBcast);
}

TEST(TransportKernel, FaultsOfTheFileHaveALine) {
    const auto error = [](std::string text) {
        const auto kernel = parse_transport_parameters(text, "p");
        return kernel ? std::string("accepted") : kernel.error().pointer + " " + kernel.error().message;
    };
    EXPECT_THAT(error("NO_OF_TEAMS=2\nNO_OF_TEAMS=3\n"), HasSubstr("p:2 NO_OF_TEAMS is given twice"));
    EXPECT_THAT(error("NO_OF_TEAMS=0\n"), HasSubstr("p:1 'NO_OF_TEAMS=0' is out of range"));
    EXPECT_THAT(error("NO_OF_TEAMS=2x"), HasSubstr("out of range"));
    EXPECT_THAT(error("\nTEAMS=2"), HasSubstr("p:2 'TEAMS=2' names no parameter"));
    EXPECT_THAT(error("hello"), HasSubstr("no NAME=value"));
    EXPECT_THAT(error("OP_INTRA_TEAM=MPI_Magic"), HasSubstr("MPI_Magic"));
    EXPECT_THAT(error(""), HasSubstr("NO_OF_TEAMS is missing"));
    EXPECT_THAT(error("NO_OF_TEAMS=99999999999999999999"), HasSubstr("out of range"));
}

TEST(TransportKernel, TraceHoldsTheMessagesOfItsCollectives) {
    const Trace trace = transport_trace(parse_transport_parameters(kFigure51, "p").value()).value();
    // Bcast of 3 leaders 0, 1, 3: 0 -> 3 (relative 2), then 0 -> 1. Allgather of 2: both ways, 1000 bytes.
    const TaskGraph graph = task_graph_of(trace);
    const std::vector<TaskEdge> edges = {{0, 1, 1e4, 10}, {0, 3, 1e4, 10}, {1, 2, 2e7, 20'000}, {3, 4, 2e7, 20'000}};
    EXPECT_EQ(std::vector<TaskEdge>(graph.edges().begin(), graph.edges().end()), edges);
    EXPECT_EQ(graph.compute(0), 0);
    EXPECT_NEAR(graph.compute(3), 1e-4, 1e-12);
}

TEST(TransportKernel, InterleavedTeamsAreDealtRoundRobin) {
    TransportKernel kernel = parse_transport_parameters(kFigure51, "p").value();
    kernel.interleaved = true;
    const TaskGraph graph = task_graph_of(transport_trace(kernel).value());
    EXPECT_EQ(graph.neighbours(3)[0].task, 1);
    EXPECT_EQ(graph.neighbours(4)[0].task, 2);
}

TEST(TransportKernel, TooLargeIsSaidBeforeMemoryIsTaken) {
    TransportKernel kernel = parse_transport_parameters(kFigure51, "p").value();
    kernel.internal_cycles = 1'000'000'000;
    EXPECT_EQ(transport_trace(kernel).error().code, ErrorCode::kTooLarge);
    kernel.procs_per_team = 400'000;
    EXPECT_EQ(transport_trace(kernel).error().code, ErrorCode::kTooLarge);
}

TEST(RandomProgram, MessagesBetweenClustersAreRarer) {
    const RandomProgram program =
        make_random_program({.ranks = 12, .clusters = 3, .every = 10, .lines = 50'000}).value();
    const TaskGraph graph = task_graph_of(random_trace(program).value());
    double inside = 0, between = 0;
    for (const TaskEdge& edge : graph.edges())
        (program.cluster_of[static_cast<std::size_t>(edge.u)] == program.cluster_of[static_cast<std::size_t>(edge.v)]
             ? inside
             : between) += edge.messages;
    // 3 of 11 partners are in the own cluster.
    EXPECT_NEAR(inside, 50'000 * 3 / 11.0, 500);
    EXPECT_NEAR(between, 50'000 * 8 / 110.0, 100);
    EXPECT_NEAR(graph.compute(5), 1e-4, 1e-12);
}

TEST(RandomProgram, SeedIsTheProgram) {
    const auto made = [](std::uint64_t seed) {
        return random_trace(make_random_program({.lines = 100, .seed = seed}).value()).value();
    };
    EXPECT_EQ(made(4), made(4));
    EXPECT_NE(made(4), made(5));
}

TEST(RandomProgram, RefusesWhatCannotBe) {
    EXPECT_FALSE(make_random_program({.ranks = 1}));
    EXPECT_FALSE(make_random_program({.ranks = 4, .clusters = 5}));
    EXPECT_FALSE(make_random_program({.every = -1}));
    EXPECT_FALSE(make_random_program({.bytes = -1}));
    EXPECT_EQ(random_trace(make_random_program({.lines = 1'000'000'000'000}).value()).error().code,
              ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace zbs
