#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ranges>

#include "algorithms/base/rng.hpp"
#include "algorithms/gang/packing.hpp"

namespace zbs::gang {
namespace {

struct RuleCase {
    const char* label;
    const char* rule;
    PackingOptions given;
};

class PackingContract : public testing::TestWithParam<RuleCase> {
  protected:
    static constexpr std::int32_t kProcessors = 16;
    PackingOptions options() const {
        PackingOptions options = GetParam().given;
        options.processors = kProcessors;
        return make_packing_options(GetParam().rule, options).value();
    }
};

INSTANTIATE_TEST_SUITE_P(
    , PackingContract,
    testing::Values(
        RuleCase{"FirstFit", "first-fit", {}}, RuleCase{"BestFit", "best-fit", {}}, RuleCase{"Ffd", "ffd", {}},
        RuleCase{"Buddy", "buddy", {}},
        RuleCase{"BuddyStrict", "buddy", {.max_slices = 5, .selective_disabling = false}},
        RuleCase{"BuddyFill", "buddy", {.max_tasks_per_node = 4, .fill = true}},
        RuleCase{"FirstFitFill", "first-fit", {.fill = true, .compact = true}},
        RuleCase{"BestFitLowest", "best-fit", {.choice = ProcessorChoice::kLowest, .compact = true}},
        RuleCase{"BestFitMoving", "best-fit", {.repack = Repack::kAtArrival, .memory_per_node = 1000}},
        RuleCase{"Capped", "first-fit", {.max_tasks_per_node = 3, .overtaking = true}},
        RuleCase{"MemoryFit", "memory-fit", {.memory_per_node = 1000}},
        RuleCase{"MemoryFitCompared", "memory-fit", {.new_slice = NewSlice::kAlwaysCompared, .memory_per_node = 1000}},
        RuleCase{"MemoryBestFit", "best-fit", {.memory_per_node = 1000, .max_slices = 6}}),
    [](const auto& param_info) { return std::string(param_info.param.label); });

void check(const GangPacking& packing) {
    const TraceDiagram& diagram = packing.diagram();
    const PackingOptions& options = packing.options();
    std::vector<std::int32_t> tasks(static_cast<std::size_t>(options.processors), 0);
    std::vector<std::int64_t> memory(static_cast<std::size_t>(options.processors), options.memory_per_node);
    std::int64_t total = 0;
    for (const GangPacking::Resident& resident : packing.residents()) {
        const GangRequest& request = resident.request;
        total += request.processors;
        ASSERT_EQ(resident.processors.size(), static_cast<std::size_t>(request.processors));
        const auto home = diagram.home_row(request.job);
        ASSERT_TRUE(home) << request.job;
        for (const std::int32_t row : diagram.rows_of(request.job))
            EXPECT_EQ(diagram.processors_of(row, request.job), resident.processors) << "whole gangs, and no moves";
        int homes = 0;
        for (std::int32_t row = 0; row < diagram.row_count(); ++row)
            for (const TraceDiagram::Entry& entry : diagram.entries(row))
                homes += entry.job == request.job && entry.stay == TraceDiagram::Stay::kHome ? 1 : 0;
        EXPECT_EQ(homes, 1);
        for (const std::int32_t p : resident.processors) {
            ++tasks[static_cast<std::size_t>(p)];
            memory[static_cast<std::size_t>(p)] -= request.memory;
        }
    }
    EXPECT_TRUE(std::ranges::equal(tasks, packing.tasks()));
    EXPECT_TRUE(std::ranges::equal(memory, packing.free_memory()));
    if (options.memory_per_node > 0) {
        EXPECT_GE(std::ranges::min(memory), 0);
    }
    if (options.max_tasks_per_node > 0) {
        EXPECT_LE(std::ranges::max(tasks), options.max_tasks_per_node);
    }
    if (options.max_slices > 0) {
        EXPECT_LE(diagram.row_count(), options.max_slices);
    }
    EXPECT_GE(diagram.row_count(), fewest_slices(total, options.processors));  // [DaSilva2000, theorem 6]
    TraceDiagram clean = diagram;
    clean.remove_alternatives();
    EXPECT_EQ(clean.erase_empty_rows(), 0);
    EXPECT_EQ(clean.slot_count() - clean.idle_slots(), total);
    if (options.fill) {  // no job fits anywhere else
        for (const GangPacking::Resident& resident : packing.residents())
            for (std::int32_t row = 0; row < diagram.row_count(); ++row)
                EXPECT_FALSE(diagram.all_free(row, resident.processors));
    }
}

TEST_P(PackingContract, HoldsAfterAnyHistory) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        GangPacking packing(options());
        std::vector<std::int64_t> present;
        std::int64_t arrived = 0;
        for (int step = 0; step < 80; ++step) {
            const std::vector<std::int32_t> tasks_before(packing.tasks().begin(), packing.tasks().end());
            const std::vector<GangPacking::Resident> before(packing.residents().begin(), packing.residents().end());
            const std::size_t waiting_before = packing.waiting().size();
            WorkloadChange change;
            if (!present.empty() && rng.below(5) < 2) {
                const std::size_t i = rng.below(present.size());
                change = packing.leave(JobId{present[i]});
                present.erase(present.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                const auto size = static_cast<std::int32_t>(1 + rng.below(rng.below(2) == 0 ? 4 : kProcessors));
                const auto memory = static_cast<std::int64_t>(rng.below(300));
                change = packing.arrive({JobId{arrived}, size, memory}).value();
                present.push_back(arrived++);
            }
            check(packing);
            // Nobody is lost, and placed ones no longer wait.
            EXPECT_EQ(packing.residents().size() + packing.waiting().size(), present.size());
            for (const JobId id : change.placed)
                EXPECT_TRUE(std::ranges::none_of(packing.waiting(), [&](const GangRequest& r) { return r.job == id; }));
            for (std::int32_t p = 0; p < kProcessors; ++p) {
                const bool is_notified = std::ranges::binary_search(change.notified, p);
                if (tasks_before[static_cast<std::size_t>(p)] != packing.tasks()[static_cast<std::size_t>(p)]) {
                    EXPECT_TRUE(is_notified) << p;
                }
                const auto on = [&](std::span<const GangPacking::Resident> residents) {
                    std::vector<JobId> jobs;
                    for (const auto& r : residents)
                        if (std::ranges::binary_search(r.processors, p)) jobs.push_back(r.request.job);
                    return jobs;
                };
                if (waiting_before == 0 && change.placed.size() <= 1) {
                    EXPECT_EQ(is_notified, on(before) != on(packing.residents())) << p;
                }
            }
        }
        const GangPacking again = GangPacking::restore(packing.options(), packing.diagram(),
                                                       {packing.residents().begin(), packing.residents().end()},
                                                       {packing.waiting().begin(), packing.waiting().end()});
        EXPECT_EQ(again, packing);
        GangPacking one = packing, two = again;  // and it goes on in the same way
        for (std::int64_t extra = 0; extra < 10; ++extra) {
            const GangRequest request{JobId{arrived + extra}, static_cast<std::int32_t>(1 + rng.below(kProcessors)),
                                      20};
            EXPECT_EQ(one.arrive(request).value(), two.arrive(request).value());
            EXPECT_EQ(one, two);
        }
    }
}

TEST_P(PackingContract, JobsThatWaitGetTheirTurn) {
    Rng rng(7);
    GangPacking packing(options());
    std::vector<JobId> running;
    for (std::int64_t job = 0; job < 200; ++job)
        ASSERT_TRUE(packing.arrive({JobId{job}, static_cast<std::int32_t>(1 + rng.below(kProcessors)), 40}));
    for (std::size_t ended = 0; ended < 200; ++ended) {
        ASSERT_FALSE(packing.residents().empty()) << "jobs wait though the machine is empty";
        packing.leave(packing.residents()[rng.below(packing.residents().size())].request.job);
    }
    EXPECT_TRUE(packing.waiting().empty());
    EXPECT_EQ(packing.diagram().row_count(), 0);
}

/// All packings of `sizes` into rows, each job once; calls `visit(rows)`.
template <class Visit>
void all_packings(const std::vector<std::int32_t>& sizes, std::int32_t width, std::size_t next,
                  std::vector<std::int32_t>& free, Visit visit) {
    if (next == sizes.size()) {
        visit(static_cast<std::int32_t>(free.size()));
        return;
    }
    for (std::size_t row = 0; row < free.size(); ++row) {
        if (free[row] < sizes[next]) continue;
        free[row] -= sizes[next];
        all_packings(sizes, width, next + 1, free, visit);
        free[row] += sizes[next];
    }
    free.push_back(width - sizes[next]);
    all_packings(sizes, width, next + 1, free, visit);
    free.pop_back();
}

// [DaSilva2000, corollary 1]: with every job placed once, fewer slices idle less; so no rule beats the shortest period.
TEST(PackingBruteForce, ShortestPeriodIdlesLeastAndNoRuleBeatsIt) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        constexpr std::int32_t kWidth = 8;
        std::vector<std::int32_t> sizes(1 + rng.below(7));
        for (std::int32_t& size : sizes) size = static_cast<std::int32_t>(1 + rng.below(kWidth));
        std::int32_t fewest = 1000, most = 0;
        std::vector<std::int32_t> free;
        all_packings(sizes, kWidth, 0, free, [&](std::int32_t rows) {
            fewest = std::min(fewest, rows);
            most = std::max(most, rows);
        });
        EXPECT_EQ(most, static_cast<std::int32_t>(sizes.size()));
        const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
        const double least_idling = 1 - static_cast<double>(total) / (kWidth * fewest);
        for (const std::string_view rule : std::views::transform(packing_rules(), &PackingInfo::name)) {
            GangPacking packing(make_packing_options(rule, {.processors = kWidth}).value());
            for (std::size_t i = 0; i < sizes.size(); ++i)
                ASSERT_TRUE(packing.arrive({JobId{static_cast<std::int64_t>(i)}, sizes[i]}));
            const TraceDiagram& diagram = packing.diagram();
            EXPECT_GE(diagram.row_count(), fewest) << rule;
            EXPECT_GE(diagram.idling_ratio(), least_idling - 1e-12) << rule;
            EXPECT_NEAR(diagram.idling_ratio(), 1 - static_cast<double>(total) / (kWidth * diagram.row_count()), 1e-12);
            if (rule == "ffd") {  // 11/9 opt + 6/9 of FFD
                EXPECT_LE(diagram.row_count(), (11 * fewest + 6) / 9);
            }
        }
    }
}

TEST(FirstFitDecreasing, IsOptimalWhereSizesDivideEachOther) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        GangPacking packing(make_packing_options("ffd", {.processors = 32}).value());
        std::int64_t total = 0;
        for (std::int64_t job = 0; job < 25; ++job) {
            const auto size = std::int32_t{1} << rng.below(6);
            total += size;
            ASSERT_TRUE(packing.arrive({JobId{job}, size}));
            ASSERT_EQ(packing.diagram().row_count(), fewest_slices(total, 32));
        }
    }
}

TEST(FirstFit, AnyTwoSlicesHoldMoreThanOneMachineWhileNobodyLeaves) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        for (const char* rule : {"first-fit", "best-fit", "ffd"}) {
            GangPacking packing(make_packing_options(rule, {.processors = 20}).value());
            for (std::int64_t job = 0; job < 40; ++job)
                ASSERT_TRUE(packing.arrive({JobId{job}, static_cast<std::int32_t>(1 + rng.below(20))}));
            std::vector<std::int32_t> free(packing.diagram().free_counts().begin(),
                                           packing.diagram().free_counts().end());
            std::ranges::sort(free, std::ranges::greater{});
            if (free.size() >= 2) {
                EXPECT_LT(free[0] + free[1], 20) << rule;
            }
        }
    }
}

// A new slice offers all processors, so the memory left over is never worse balanced there.
TEST(MemoryFit, NewSliceIsNeverWorseThanAnOldOne) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        GangPacking needed(make_packing_options("memory-fit", {.processors = 12, .memory_per_node = 512}).value());
        for (std::int64_t job = 0; job < 12; ++job) {
            const GangRequest request{JobId{job}, static_cast<std::int32_t>(1 + rng.below(12)),
                                      static_cast<std::int64_t>(rng.below(60))};
            GangPacking compared = GangPacking::restore(
                make_packing_options("memory-fit",
                                     {.processors = 12, .new_slice = NewSlice::kAlwaysCompared, .memory_per_node = 512})
                    .value(),
                needed.diagram(), {needed.residents().begin(), needed.residents().end()},
                {needed.waiting().begin(), needed.waiting().end()});
            ASSERT_TRUE(needed.arrive(request));
            ASSERT_TRUE(compared.arrive(request));
            EXPECT_LE(std::ranges::max(compared.free_memory()), std::ranges::max(needed.free_memory()));
        }
    }
}

TEST(CompactMatrix, LeavesNoMoveIntoAFullerRow) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        TraceDiagram diagram(10);
        for (int row = 0; row < 6; ++row) {
            diagram.add_row();
            std::vector<std::int32_t> free(10);
            std::iota(free.begin(), free.end(), 0);
            rng.shuffle(free);
            free.resize(1 + rng.below(9));
            diagram.place(row, JobId{row}, free);
        }
        for (const Migration migration : {Migration::kNone, Migration::kAllowed}) {
            TraceDiagram packed = diagram;
            compact_matrix(packed, migration);
            EXPECT_EQ(packed.slot_count() - packed.idle_slots(), diagram.slot_count() - diagram.idle_slots());
            for (int job = 0; job < 6; ++job) {
                const auto row = packed.home_row(JobId{job});
                ASSERT_TRUE(row);
                const std::vector<std::int32_t> own = packed.processors_of(*row, JobId{job});
                if (migration == Migration::kNone) {
                    EXPECT_EQ(own, diagram.processors_of(job, JobId{job}));
                }
                for (std::int32_t other = 0; other < packed.row_count(); ++other) {
                    const std::int32_t free = packed.free_counts()[static_cast<std::size_t>(other)];
                    if (other == *row || free >= packed.free_counts()[static_cast<std::size_t>(*row)]) continue;
                    EXPECT_FALSE(migration == Migration::kNone ? packed.all_free(other, own)
                                                               : free >= static_cast<std::int32_t>(own.size()));
                }
            }
        }
    }
}

}  // namespace
}  // namespace zbs::gang
