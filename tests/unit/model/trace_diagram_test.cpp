#include "algorithms/model/trace_diagram.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/base/rng.hpp"
#include "tests/support/diagram_text.hpp"

namespace zbs {
namespace {

using Stay = TraceDiagram::Stay;
using Pes = std::vector<std::int32_t>;

// [DaSilva2000, section 2.1]: jobs of 3, 2 and 1 processors on 4, packed by first fit.
TraceDiagram packed() {
    TraceDiagram diagram(4);
    diagram.add_row();
    diagram.add_row();
    diagram.place(0, JobId{1}, Pes{0, 1, 2});
    diagram.place(1, JobId{2}, Pes{0, 1});
    diagram.place(0, JobId{3}, Pes{3});
    return diagram;
}

TEST(TraceDiagram, IdlingRatioIsIdleSlotsOverSlots) {
    EXPECT_EQ(packed().idling_ratio(), 0.25);
    TraceDiagram one_each(4);
    for (int job = 0; job < 3; ++job)
        one_each.place(one_each.add_row(), JobId{job}, job == 0 ? Pes{0, 1, 2} : job == 1 ? Pes{0, 1} : Pes{0});
    EXPECT_EQ(one_each.idling_ratio(), 0.5);
    EXPECT_EQ(TraceDiagram(4).idling_ratio(), 0);
}

TEST(TraceDiagram, SaysWhoIsWhere) {
    const TraceDiagram diagram = packed();
    EXPECT_EQ(diagram.job_at(0, 3), JobId{3});
    EXPECT_EQ(diagram.job_at(1, 3), kNoJob);
    EXPECT_FALSE(diagram.is_free(1, 1));
    EXPECT_TRUE(diagram.is_free(1, 2));
    EXPECT_EQ(diagram.home_row(JobId{2}), 1);
    EXPECT_EQ(diagram.home_row(JobId{9}), std::nullopt);
    EXPECT_EQ(diagram.processors_of(0, JobId{1}), (Pes{0, 1, 2}));
    EXPECT_TRUE(diagram.all_free(1, Pes{2, 3}));
    EXPECT_FALSE(diagram.all_free(1, Pes{1, 2}));
    EXPECT_EQ(test::text(diagram), "1 1 1 3\n2 2 . .\n");
}

TEST(TraceDiagram, AlternativeSlotsGiveWayAndDoNotKeepARow) {
    TraceDiagram diagram = packed();
    diagram.place(1, JobId{3}, Pes{3}, Stay::kAlternative);
    EXPECT_EQ(diagram.rows_of(JobId{3}), (Pes{0, 1}));
    EXPECT_EQ(diagram.home_row(JobId{3}), 0);
    EXPECT_EQ(diagram.free_counts()[1], 1);
    EXPECT_EQ(test::text(diagram), "1 1 1 3\n2 2 . 3+\n");

    TraceDiagram given_up = diagram;
    given_up.remove_alternatives();
    EXPECT_EQ(given_up, packed());
    EXPECT_EQ(diagram.remove(JobId{2}), 2);
    EXPECT_EQ(diagram.erase_empty_rows(), 1);
    EXPECT_EQ(diagram.row_count(), 1);
}

TEST(TraceDiagram, RemovedJobLeavesNothing) {
    TraceDiagram diagram = packed();
    EXPECT_EQ(diagram.remove(JobId{1}), 3);
    EXPECT_EQ(diagram.remove(JobId{1}), 0);
    EXPECT_EQ(diagram.free_counts()[0], 3);
    diagram.erase_row(0);
    EXPECT_EQ(diagram.job_at(0, 0), JobId{2});
}

TEST(TraceDiagram, OrderOfArrivalIsNoPartOfTheValue) {
    TraceDiagram other(4);
    other.add_row();
    other.place(0, JobId{3}, Pes{3});
    other.place(0, JobId{1}, Pes{2, 0, 1});
    other.place(other.add_row(), JobId{2}, Pes{0, 1});
    EXPECT_EQ(other, packed());
    other.remove(JobId{2});
    other.place(1, JobId{2}, Pes{0, 1}, Stay::kAlternative);
    EXPECT_NE(other, packed());
}

TEST(TraceDiagramDeathTest, NoSlotIsGivenTwice) {
    TraceDiagram diagram = packed();
    EXPECT_DEATH(diagram.place(0, JobId{4}, Pes{3}), "contract");
    EXPECT_DEATH(diagram.place(1, JobId{4}, Pes{2, 2}), "contract");
    EXPECT_DEATH(diagram.place(1, JobId{2}, Pes{2}), "contract");
    EXPECT_DEATH(diagram.place(2, JobId{4}, Pes{0}), "contract");
}

// Counts and bits are kept beside the slots; after any history they say what the slots say.
TEST(TraceDiagramProperty, CountsAndBitsFollowTheSlots) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const auto width = static_cast<std::int32_t>(1 + rng.below(130));
        TraceDiagram diagram(width);
        std::vector<std::int64_t> present;
        for (std::int64_t step = 0; step < 60; ++step) {
            if (!present.empty() && rng.below(3) == 0) {
                const std::size_t i = rng.below(present.size());
                diagram.remove(JobId{present[i]});
                present.erase(present.begin() + static_cast<std::ptrdiff_t>(i));
                if (rng.below(2) == 0) diagram.erase_empty_rows();
                continue;
            }
            const std::int32_t row = diagram.row_count() == 0 || rng.below(4) == 0
                                         ? diagram.add_row()
                                         : static_cast<std::int32_t>(rng.below(diagram.row_count()));
            Pes free;
            for (std::int32_t p = 0; p < width; ++p)
                if (diagram.is_free(row, p)) free.push_back(p);
            if (free.empty()) continue;
            rng.shuffle(free);
            free.resize(1 + rng.below(free.size()));
            diagram.place(row, JobId{step}, free, rng.below(4) == 0 ? Stay::kAlternative : Stay::kHome);
            present.push_back(step);
        }
        std::int64_t idle = 0;
        for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
            std::int32_t free = 0;
            for (std::int32_t p = 0; p < width; ++p) {
                EXPECT_EQ(diagram.is_free(row, p), diagram.job_at(row, p) == kNoJob);
                free += diagram.is_free(row, p) ? 1 : 0;
            }
            EXPECT_EQ(free, diagram.free_counts()[static_cast<std::size_t>(row)]);
            for (const TraceDiagram::Entry& entry : diagram.entries(row))
                EXPECT_EQ(diagram.processors_of(row, entry.job).size(), static_cast<std::size_t>(entry.processors));
            idle += free;
        }
        EXPECT_EQ(idle, diagram.idle_slots());
    }
}

TEST(JobsOnTop, HaveNobodyAboveOnAnyProcessor) {
    TraceDiagram diagram(6);
    for (int row = 0; row < 3; ++row) diagram.add_row();
    const auto put = [&](std::int32_t row, int job, std::vector<std::int32_t> processors) {
        diagram.place(row, JobId{job}, processors);
    };
    EXPECT_TRUE(jobs_on_top(diagram).empty());
    put(0, 1, {0, 1});
    put(1, 2, {1, 2});  // below job 1 on processor 1
    put(1, 3, {3, 4});
    put(2, 4, {2, 5});  // below job 2, which does not run itself
    put(2, 5, {0});
    EXPECT_EQ(jobs_on_top(diagram), (std::vector<JobId>{JobId{1}, JobId{3}}));
    diagram.remove(JobId{1});
    EXPECT_EQ(jobs_on_top(diagram), (std::vector<JobId>{JobId{2}, JobId{3}, JobId{5}}));
}

}  // namespace
}  // namespace zbs
