#include "studies/models/periodic_schedule.hpp"

#include <gtest/gtest.h>

namespace zbs::gang {
namespace {

/// One string a row, one character a processor, '.' for an idle slot.
TraceDiagram diagram_of(const std::vector<std::string>& rows) {
    TraceDiagram diagram(static_cast<std::int32_t>(rows.at(0).size()));
    for (const std::string& cells : rows) {
        const std::int32_t row = diagram.add_row();
        for (char job = '0'; job <= '9'; ++job) {
            std::vector<std::int32_t> processors;
            for (std::size_t p = 0; p < cells.size(); ++p)
                if (cells[p] == job) processors.push_back(static_cast<std::int32_t>(p));
            if (!processors.empty()) diagram.place(row, JobId{job - '0'}, processors);
        }
    }
    return diagram;
}

TEST(BestPeriodicPart, LiesBetweenEqualStates) {
    // Job 1 runs its left task first, catches up, and so on; the last four rows waste least.
    const TraceDiagram history = diagram_of({"1.", ".1", "..", "12", "21"});
    EXPECT_EQ(largest_lead(history), 1);
    const auto part = best_periodic_part(history);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->begin, 3);
    EXPECT_EQ(part->end, 5);
    EXPECT_EQ(part->period, diagram_of({"12", "21"}));
    EXPECT_TRUE(serves_equally(part->period, history));
}

TEST(BestPeriodicPart, MayBeginWhereATaskLeads) {
    // The left task leads by 1 before the second row and after the third.
    const auto part = best_periodic_part(diagram_of({"1.", "1.", ".1"}));
    ASSERT_TRUE(part);
    EXPECT_EQ(part->begin, 1);
    EXPECT_EQ(part->end, 3);
}

TEST(BestPeriodicPart, NothingFromNothing) { EXPECT_FALSE(best_periodic_part(TraceDiagram(2))); }

TEST(ServesEqually, CountsTasksThatAreNeverServed) {
    EXPECT_FALSE(serves_equally(diagram_of({"1."}), diagram_of({"11"})));
    EXPECT_TRUE(serves_equally(diagram_of({"1.", ".1"}), diagram_of({"11"})));
}

}  // namespace
}  // namespace zbs::gang
