#include "algorithms/gang/packing.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/diagram_text.hpp"

namespace zbs::gang {
namespace {

PackingOptions rule(std::string_view name, std::int32_t processors, PackingOptions options = {}) {
    options.processors = processors;
    return make_packing_options(name, options).value();
}

/// Slices after each arrival of jobs 0, 1, 2.. of these sizes.
std::vector<std::int32_t> slices_after(const PackingOptions& options, std::initializer_list<std::int32_t> sizes) {
    GangPacking packing(options);
    std::vector<std::int32_t> slices;
    std::int64_t job = 0;
    for (const std::int32_t size : sizes) {
        EXPECT_TRUE(packing.arrive({JobId{job++}, size}));
        slices.push_back(packing.diagram().row_count());
    }
    return slices;
}

using test::text;

using Slices = std::vector<std::int32_t>;

TEST(GangPacking, FirstFitAndBestFitPartOverAGap) {
    EXPECT_EQ(slices_after(rule("first-fit", 10), {6, 7, 3, 4}), (Slices{1, 2, 2, 3}));
    EXPECT_EQ(slices_after(rule("best-fit", 10), {6, 7, 3, 4}), (Slices{1, 2, 2, 2}));
    EXPECT_EQ(slices_after(rule("first-fit", 4), {3, 3, 3, 2}), (Slices{1, 2, 3, 4}));
    EXPECT_EQ(slices_after(rule("best-fit", 4), {3, 3, 3, 2}), (Slices{1, 2, 3, 4}));
}

TEST(GangPacking, DecreasingOrderNeedsFewerSlicesThanArrivalOrder) {
    EXPECT_EQ(slices_after(rule("first-fit", 10), {4, 4, 6, 6}), (Slices{1, 1, 2, 3}));
    EXPECT_EQ(slices_after(rule("ffd", 10), {4, 4, 6, 6}), (Slices{1, 1, 2, 2}));
}

TEST(GangPacking, ProcessorsWithTheFewestTasksComeFirst) {
    GangPacking packing(rule("first-fit", 4));
    for (const std::int32_t size : {3, 2, 1}) ASSERT_TRUE(packing.arrive({JobId{size}, size}));
    EXPECT_EQ(text(packing.diagram()), "3 3 3 1\n2 . . 2\n");
    GangPacking lowest(rule("first-fit", 4, {.choice = ProcessorChoice::kLowest}));
    for (const std::int32_t size : {3, 2, 1}) ASSERT_TRUE(lowest.arrive({JobId{size}, size}));
    EXPECT_EQ(text(lowest.diagram()), "3 3 3 1\n2 2 . .\n");
}

TEST(GangPacking, EmptiedSliceGoesAndOthersStay) {
    GangPacking packing(rule("first-fit", 4));
    for (const std::int32_t size : {4, 3, 2}) ASSERT_TRUE(packing.arrive({JobId{size}, size}));
    EXPECT_EQ(text(packing.diagram()), "4 4 4 4\n3 3 3 .\n2 . . 2\n");
    const WorkloadChange change = packing.leave(JobId{3});
    EXPECT_EQ(text(packing.diagram()), "4 4 4 4\n2 . . 2\n");
    EXPECT_EQ(change.notified, (Slices{0, 1, 2}));
    EXPECT_TRUE(change.placed.empty());
}

TEST(GangPacking, OnlyProcessorsOfThePlacedJobAreNotified) {
    GangPacking packing(rule("first-fit", 8));
    EXPECT_EQ(packing.arrive({JobId{1}, 5}).value().notified, (Slices{0, 1, 2, 3, 4}));
    EXPECT_EQ(packing.arrive({JobId{2}, 2}).value().notified, (Slices{5, 6}));
}

// [DaSilva2000, section 5.4]: available 512, 480, 256, 128; a job of two tasks of 64; one slice has 0 and 1 idle, the
// other 2 and 3. B = 448 / 1248 against 512 / 1248.
GangPacking memory_example(NewSlice new_slice) {
    TraceDiagram diagram(4);
    std::vector<GangPacking::Resident> residents{
        {{JobId{1}, 1, 256}, {2}}, {{JobId{2}, 1, 384}, {3}}, {{JobId{3}, 1, 0}, {0}}, {{JobId{4}, 1, 32}, {1}}};
    diagram.add_row();
    diagram.add_row();
    for (std::size_t i = 0; i < 4; ++i) diagram.place(i < 2 ? 1 : 0, residents[i].request.job, residents[i].processors);
    return GangPacking::restore(rule("memory-fit", 4, {.new_slice = new_slice, .memory_per_node = 512}), diagram,
                                residents, {});
}

TEST(GangPacking, MemoryFitTakesTheSliceThatBalances) {
    for (const NewSlice new_slice : {NewSlice::kOnlyIfNeeded, NewSlice::kAlwaysCompared}) {
        GangPacking packing = memory_example(new_slice);
        ASSERT_TRUE(packing.arrive({JobId{5}, 2, 64}));
        EXPECT_EQ(text(packing.diagram()), "3 4 . .\n5 5 1 2\n") << static_cast<int>(new_slice);
        EXPECT_EQ(std::vector(packing.free_memory().begin(), packing.free_memory().end()),
                  (std::vector<std::int64_t>{448, 416, 256, 128}));
    }
}

TEST(GangPacking, ComparedNewSliceWinsOverAnUnbalancedOldOne) {
    GangPacking if_needed = memory_example(NewSlice::kOnlyIfNeeded),
                compared = memory_example(NewSlice::kAlwaysCompared);
    for (GangPacking* packing : {&if_needed, &compared}) {
        ASSERT_TRUE(packing->arrive({JobId{5}, 1, 8}));  // takes processor 0 of the second slice: 504, 480, 256, 128
        ASSERT_TRUE(packing->arrive({JobId{6}, 2, 120}));
    }
    // Only processors 2 and 3 are idle together in a slice: after it 504 of free memory is left on processor 0.
    EXPECT_EQ(text(if_needed.diagram()), "3 4 6 6\n5 . 1 2\n");
    EXPECT_EQ(text(compared.diagram()), "3 4 . .\n5 . 1 2\n6 6 . .\n");
}

TEST(GangPacking, BestFitWithMemorySkipsSlicesWithoutEnough) {
    TraceDiagram diagram(3);
    diagram.add_row();
    diagram.add_row();
    diagram.place(0, JobId{1}, Slices{0, 1});
    diagram.place(1, JobId{2}, Slices{2});
    const std::vector<GangPacking::Resident> residents{{{JobId{1}, 2, 10}, {0, 1}}, {{JobId{2}, 1, 90}, {2}}};
    GangPacking packing = GangPacking::restore(rule("best-fit", 3, {.memory_per_node = 100}), diagram, residents, {});
    ASSERT_TRUE(packing.arrive({JobId{3}, 1, 20}));
    EXPECT_EQ(packing.diagram().home_row(JobId{3}), 1);
}

TEST(GangPacking, WaitingJobsKeepTheirOrderUnlessOvertakingIsAllowed) {
    GangPacking strict(rule("first-fit", 4, {.max_tasks_per_node = 1}));
    ASSERT_TRUE(strict.arrive({JobId{1}, 3}));
    EXPECT_TRUE(strict.arrive({JobId{2}, 2}).value().placed.empty());
    EXPECT_TRUE(strict.arrive({JobId{3}, 1}).value().placed.empty());
    EXPECT_EQ(strict.leave(JobId{1}).placed, (std::vector<JobId>{JobId{2}, JobId{3}}));

    GangPacking loose(rule("first-fit", 4, {.max_tasks_per_node = 1, .overtaking = true}));
    ASSERT_TRUE(loose.arrive({JobId{1}, 3}));
    EXPECT_TRUE(loose.arrive({JobId{2}, 2}).value().placed.empty());
    EXPECT_EQ(loose.arrive({JobId{3}, 1}).value().placed, (std::vector<JobId>{JobId{3}}));
    EXPECT_TRUE(loose.leave(JobId{2}).placed.empty());  // a waiting job may be withdrawn
    EXPECT_TRUE(loose.waiting().empty());
}

TEST(GangPacking, SliceLimitMakesJobsWait) {
    GangPacking packing(rule("best-fit", 4, {.max_slices = 1}));
    ASSERT_TRUE(packing.arrive({JobId{1}, 3}));
    ASSERT_TRUE(packing.arrive({JobId{2}, 2}));
    EXPECT_EQ(packing.diagram().row_count(), 1);
    EXPECT_EQ(packing.waiting().size(), 1u);
}

TEST(GangPacking, JobThatNeverFitsIsRejected) {
    GangPacking packing(rule("memory-fit", 4, {.memory_per_node = 100}));
    EXPECT_EQ(packing.arrive({JobId{7}, 5}).error().code, ErrorCode::kRejected);
    EXPECT_EQ(packing.arrive({JobId{7}, 5}).error().message, "job 7 asks for 5 processors of 4; ask for fewer");
    EXPECT_NE(packing.arrive({JobId{7}, 1, 101}).error().message.find("more memory"), std::string::npos);
    EXPECT_EQ(packing.diagram().row_count(), 0);
}

TEST(Buddy, ControllerLevelIsTheNextPowerOfTwo) {
    const std::vector<std::pair<std::int32_t, std::int32_t>> levels{{1, 0}, {2, 1}, {3, 2}, {4, 2},
                                                                    {5, 3}, {8, 3}, {9, 4}, {16, 4}};
    for (const auto& [size, level] : levels) EXPECT_EQ(controller_level(size), level) << size;
}

TEST(Buddy, GangFillsOneHalfAndLeavesAWholeBlock) {
    GangPacking packing(rule("buddy", 8));
    ASSERT_TRUE(packing.arrive({JobId{5}, 5}));  // level 3: one half and one more
    ASSERT_TRUE(packing.arrive({JobId{2}, 2}));  // level 1: the block with the fewest tasks
    EXPECT_EQ(text(packing.diagram()), "5 5 5 5 5 . 2 2\n");
}

TEST(Buddy, WithoutSelectiveDisablingSubordinatesWaitForTheirTurn) {
    GangPacking packing(rule("buddy", 8, {.selective_disabling = false}));
    ASSERT_TRUE(packing.arrive({JobId{5}, 5}));
    ASSERT_TRUE(packing.arrive({JobId{2}, 2}));
    EXPECT_EQ(text(packing.diagram()), "5 5 5 5 5 . . .\n. . . . . . 2 2\n");
    // The right half has fewer tasks. Its controller comes before that of its own right half.
    ASSERT_TRUE(packing.arrive({JobId{4}, 4}));
    EXPECT_EQ(text(packing.diagram()), "5 5 5 5 5 . . .\n. . . . 4 4 4 4\n. . . . . . 2 2\n");
}

TEST(Buddy, SelectiveDisablingSavesTheirSlices) {
    GangPacking packing(rule("buddy", 8));
    for (const std::int32_t size : {5, 2, 4}) ASSERT_TRUE(packing.arrive({JobId{size}, size}));
    EXPECT_EQ(text(packing.diagram()), "5 5 5 5 5 . 2 2\n. . . . 4 4 4 4\n");
}

TEST(Buddy, AlternativeSchedulingGivesLeftOverSlotsToJobsThatLiveThere) {
    GangPacking packing(rule("buddy", 4, {.fill = true}));
    for (const std::int32_t size : {4, 3, 1}) ASSERT_TRUE(packing.arrive({JobId{size}, size}));
    EXPECT_EQ(text(packing.diagram()), "4 4 4 4\n3 3 3 1\n");
    packing.leave(JobId{4});
    ASSERT_TRUE(packing.arrive({JobId{9}, 3}));  // from the other end, where there are fewer tasks
    EXPECT_EQ(text(packing.diagram()), "3 3 3 1\n9 9 9 1+\n");
}

TEST(MakePackingOptions, NamesWhatIsWrong) {
    const auto message = [](std::string_view name, std::int32_t processors) {
        return make_packing_options(name, {.processors = processors}).error().message;
    };
    EXPECT_EQ(message("best-fitt", 4), "there is no packing rule 'best-fitt'; did you mean 'best-fit'?");
    EXPECT_NE(message("buddy", 12).find("power of two"), std::string::npos);
    EXPECT_NE(message("ffd", 0).find("processors"), std::string::npos);
    for (const PackingInfo& rule : packing_rules())
        EXPECT_TRUE(make_packing_options(rule.name, {.processors = 16})) << rule.name;
}

}  // namespace
}  // namespace zbs::gang
