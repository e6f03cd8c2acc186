#include <gtest/gtest.h>

#include "algorithms/allocation/hypercube_allocators.hpp"
#include "algorithms/allocation/mesh_frame.hpp"
#include "algorithms/allocation/processor_allocators.hpp"

namespace zbs {
namespace {

std::vector<NodeIndex> start(Allocator& machine, int job, const AllocationRequest& request) {
    const Result<const Placement*> placed = machine.allocate(JobId{job}, request);
    EXPECT_TRUE(placed.has_value()) << placed.error().message;
    return placed && *placed != nullptr ? (*placed)->nodes : std::vector<NodeIndex>{};
}
using Nodes = std::vector<NodeIndex>;

TEST(Allocator, RefusesWhatMakesNoSense) {
    FirstFitProcessors machine(8);
    EXPECT_FALSE(machine.allocate(JobId{1}, {.processors = 0}));
    EXPECT_FALSE(machine.allocate(JobId{1}, {.processors = 9}));
    EXPECT_FALSE(machine.allocate(JobId{1}, {.processors = 5, .mesh = MeshShape{2, 3}}));
    EXPECT_FALSE(machine.allocate(JobId{1}, {.processors = 6, .mesh = MeshShape{-2, -3}}));
    EXPECT_EQ(machine.release(JobId{1}).error().code, ErrorCode::kNotFound);
    ASSERT_TRUE(machine.allocate(JobId{1}, {.processors = 3}));
    EXPECT_EQ(machine.allocate(JobId{1}, {.processors = 3}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(machine.free_processors(), 5);
    EXPECT_EQ(machine.holders()[2], JobId{1});
    EXPECT_EQ(machine.holders()[3], JobId{});
}

TEST(FirstFitProcessors, TakesTheLowestNumbersWhereverTheyAre) {
    FirstFitProcessors machine(8);
    EXPECT_EQ(start(machine, 1, {.processors = 2}), (Nodes{0, 1}));
    EXPECT_EQ(start(machine, 2, {.processors = 2}), (Nodes{2, 3}));
    EXPECT_EQ(start(machine, 3, {.processors = 1}), (Nodes{4}));
    ASSERT_TRUE(machine.release(JobId{2}).has_value());
    EXPECT_EQ(start(machine, 4, {.processors = 4}), (Nodes{2, 3, 5, 6}));
}

TEST(ContiguousProcessors, FirstAndBestFitDiffer) {
    for (const auto choice : {ContiguousProcessors::Choice::kFirst, ContiguousProcessors::Choice::kBest}) {
        ContiguousProcessors machine(10, choice);
        start(machine, 1, {.processors = 4});
        start(machine, 2, {.processors = 1});
        start(machine, 3, {.processors = 2});
        start(machine, 4, {.processors = 1});
        ASSERT_TRUE(machine.release(JobId{1}).has_value());
        ASSERT_TRUE(machine.release(JobId{3}).has_value());
        EXPECT_EQ(machine.free_processors(), 8);
        EXPECT_EQ(*machine.allocate(JobId{9}, {.processors = 5}), nullptr) << "no range is that long";
        EXPECT_EQ(start(machine, 5, {.processors = 2}),
                  (choice == ContiguousProcessors::Choice::kFirst ? Nodes{0, 1} : Nodes{5, 6}));
    }
}

TEST(MeshFrame, PlacesRowByRowAndTurnsWhereNeeded) {
    MeshFrame machine({.machine = {4, 3}});
    EXPECT_EQ(start(machine, 1, mesh_request({3, 2})), (Nodes{0, 1, 2, 4, 5, 6}));
    EXPECT_EQ(start(machine, 2, mesh_request({3, 1})), (Nodes{8, 9, 10}));
    // What is left is the last column: 3 by 1 has to be turned.
    EXPECT_EQ(start(machine, 3, mesh_request({3, 1})), (Nodes{3, 7, 11}));
    MeshFrame rigid({.machine = {4, 3}, .rotate = false});
    EXPECT_FALSE(rigid.allocate(JobId{1}, mesh_request({3, 4})));
    EXPECT_TRUE(machine.accepts(mesh_request({3, 4})).has_value());
}

TEST(MeshFrame, BestFitKeepsLargeFramesWhole) {
    // A job in the middle of the top row: first fit goes left of it, best fit where it touches most, too; then below.
    for (const auto choice : {MeshFrame::Choice::kFirst, MeshFrame::Choice::kBest}) {
        MeshFrame machine({.machine = {6, 2}, .choice = choice});
        start(machine, 1, mesh_request({3, 2}));
        start(machine, 2, mesh_request({1, 2}));
        ASSERT_TRUE(machine.release(JobId{1}).has_value());
        // Free: columns 0-2 and 4-5. A 2 x 2 fills the right end, or cuts the left one.
        EXPECT_EQ(start(machine, 3, mesh_request({2, 2})),
                  (choice == MeshFrame::Choice::kFirst ? Nodes{0, 1, 6, 7} : Nodes{4, 5, 10, 11}));
    }
}

TEST(MeshFrame, NumbersOfProcessorsGetTheMostSquareFrame) {
    MeshFrame machine({.machine = {4, 4}});
    ASSERT_TRUE(machine.allocate(JobId{1}, {.processors = 5}));
    const Placement& placed = machine.placements().at(JobId{1});
    EXPECT_EQ(placed.nodes, (Nodes{0, 1, 2, 4, 5}));
    EXPECT_EQ(placed.idle, (Nodes{6}));
    EXPECT_EQ(machine.free_processors(), 10);
}

TEST(MeshFrame, FindsAFrameJustWhereThereIsOne) {
    // Against trying every place by hand.
    for (std::uint32_t pattern = 0; pattern < 512; ++pattern) {
        MeshFrame machine({.machine = {3, 3}, .rotate = false});
        for (int node = 0; node < 9; ++node) start(machine, node, {.processors = 1});
        for (int node = 0; node < 9; ++node)
            ASSERT_TRUE((pattern >> node & 1) == 0 || machine.release(JobId{node}).has_value());
        for (const MeshShape frame : {MeshShape{1, 2}, MeshShape{2, 1}, MeshShape{2, 2}, MeshShape{3, 2}}) {
            bool expected = false;
            for (int y = 0; y + frame.y <= 3; ++y) {
                for (int x = 0; x + frame.x <= 3; ++x) {
                    bool free = true;
                    for (int row = y; row < y + frame.y; ++row)
                        for (int column = x; column < x + frame.x; ++column)
                            free = free && (pattern >> (row * 3 + column) & 1) != 0;
                    expected = expected || free;
                }
            }
            const std::unique_ptr<Allocator> copy = machine.clone();
            EXPECT_EQ(*copy->allocate(JobId{100}, mesh_request(frame)) != nullptr, expected) << pattern << " " << frame;
        }
    }
}

TEST(BuddyCubes, TakesAlignedCubes) {
    BuddyCubes machine(3, HypercubeShape::kLine);
    EXPECT_EQ(start(machine, 1, {.processors = 1}), (Nodes{0}));
    EXPECT_EQ(start(machine, 2, {.processors = 2}), (Nodes{2, 3}));
    EXPECT_EQ(start(machine, 3, {.processors = 3}), (Nodes{4, 5, 7}));  // Gray order
    EXPECT_EQ(machine.placements().at(JobId{3}).idle, (Nodes{6}));
}

TEST(HypercubeAllocator, ShapesOfRequestsWithoutAMesh) {
    EXPECT_EQ(FreeListCubes({.dimensions = 6}).mesh_of({.processors = 12}), (MeshShape{1, 12}));
    const FreeListCubes square({.dimensions = 5, .shape = HypercubeShape::kSquare});
    EXPECT_EQ(square.mesh_of({.processors = 12}), (MeshShape{4, 3}));
    // 6 x 5 would need six dimensions.
    EXPECT_EQ(host_dimension(square.mesh_of({.processors = 30})), 5);
    for (std::int32_t processors = 1; processors <= 32; ++processors)
        EXPECT_TRUE(square.accepts({.processors = processors}).has_value()) << processors;
}

}  // namespace
}  // namespace zbs
