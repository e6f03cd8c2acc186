#include <gtest/gtest.h>

#include "algorithms/policy/backfill/los.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/source_folder.hpp"

// The worked example of LOS: 10 processors, 5 of them busy for 3 more units, a queue of 7, 3, 1, 2 and one more job.
namespace zbs {
namespace {

const std::vector<LookaheadJob> kQueue{{7}, {3}, {1}, {2}, {2}};

TEST(LookaheadExample, TableIsTheSourcesCellByCell) {
    const auto rows =
        test::read_table(zbs::test::source_folder() + "/tests/golden/ShmueliFeitelson2005/lookahead_example.csv");
    ASSERT_EQ(rows.size(), 30u);
    const LookaheadTable table(kQueue, 5);
    for (const std::vector<double>& row : rows) {
        const std::size_t count = static_cast<std::size_t>(row[0]);
        const std::int32_t capacity = static_cast<std::int32_t>(row[2]);
        SCOPED_TRACE(testing::Message() << "job " << count << ", capacity " << capacity);
        EXPECT_EQ(kQueue[count - 1].processors, row[1]);
        EXPECT_EQ(table.util(count, capacity), row[5]);
        EXPECT_EQ(table.selected(count, capacity), row[6] != 0);
        EXPECT_EQ(row[3], row[5]) << "ours differs from the source";
        EXPECT_EQ(row[4], row[6]) << "ours differs from the source";
    }
}

TEST(LookaheadExample, PicksJobs2And4) {
    EXPECT_EQ(LookaheadTable(kQueue, 5).best_set(), (std::vector<std::size_t>{1, 3}));
}

TEST(LookaheadExample, ShadowIs28AndTheFullestSetIsSafe) {
    using namespace std::chrono_literals;
    const Time t = Time{25s};
    ZoneState zone({.processors = 10});
    const auto apply = [&](const ZoneEvent& event) { ASSERT_TRUE(zone.apply(t, event).has_value()); };
    apply(JobSubmitted{{.id = JobId{9}, .submit = t, .walltime = 3s, .processors = 5}});
    apply(JobStarted{JobId{9}});
    for (std::size_t i = 0; i < kQueue.size(); ++i)
        apply(JobSubmitted{{.id = JobId{static_cast<std::int64_t>(i) + 1},
                            .submit = t,
                            .walltime = 3s,
                            .processors = kQueue[i].processors}});
    const Plan plan = Los({.lookahead = 50}).plan(zone.snapshot());
    EXPECT_EQ(plan.reservations, (std::vector<Reservation>{{JobId{1}, Time{28s}}}));
    EXPECT_EQ(plan.starts, (std::vector<JobId>{JobId{2}, JobId{4}}));
}

}  // namespace
}  // namespace zbs
