#include "algorithms/gang/matrix_steps.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "tests/support/diagram_text.hpp"

namespace zbs::gang {
namespace {

using Pes = std::vector<std::int32_t>;

using test::text;

/// Rows of 4: {1 on 0 1}, {2 on 2 3}, {3 on 0}.
TraceDiagram loose() {
    TraceDiagram diagram(4);
    for (int row = 0; row < 3; ++row) diagram.add_row();
    diagram.place(0, JobId{1}, Pes{0, 1});
    diagram.place(1, JobId{2}, Pes{2, 3});
    diagram.place(2, JobId{3}, Pes{0});
    return diagram;
}

TEST(CompactMatrix, JobsStayOnTheirProcessors) {
    TraceDiagram diagram = loose();
    // The emptiest row gives first: job 3 goes above job 2; then job 1 finds its processor taken there, job 2 too.
    EXPECT_EQ(compact_matrix(diagram, Migration::kNone), 1);
    EXPECT_EQ(text(diagram), "1 1 . .\n3 . 2 2\n");
}

TEST(CompactMatrix, MigrationTakesTheFullestRow) {
    TraceDiagram diagram = loose();
    EXPECT_EQ(compact_matrix(diagram, Migration::kAllowed), 1);
    EXPECT_EQ(text(diagram), "1 1 3 .\n. . 2 2\n");
}

/// Of jobs that are at home in the diagram.
void fill(TraceDiagram& diagram, const std::vector<JobId>& order, Migration migration) {
    std::deque<std::vector<std::int32_t>> processors;
    std::vector<FillCandidate> candidates;
    for (const JobId job : order)
        for (std::int32_t row = 0; row < diagram.row_count(); ++row)
            for (const TraceDiagram::Entry& entry : diagram.entries(row))
                if (entry.job == job && entry.stay == TraceDiagram::Stay::kHome)
                    candidates.push_back({job, processors.emplace_back(diagram.processors_of(row, job))});
    fill_matrix(diagram, candidates, migration);
}

TEST(FillMatrix, CopiesJobsInTheGivenOrder) {
    TraceDiagram diagram = loose();
    fill(diagram, {JobId{3}, JobId{1}, JobId{2}}, Migration::kNone);
    EXPECT_EQ(text(diagram), "1 1 2+ 2+\n3+ . 2 2\n3 . 2+ 2+\n");
    clean_matrix(diagram);
    EXPECT_EQ(diagram, loose());
    fill(diagram, {JobId{1}, JobId{3}}, Migration::kNone);
    EXPECT_EQ(text(diagram), "1 1 . .\n1+ 1+ 2 2\n3 . . .\n");
}

TEST(FillMatrix, MigrationFillsOtherProcessors) {
    TraceDiagram diagram = loose();
    fill(diagram, {JobId{1}, JobId{2}, JobId{3}}, Migration::kAllowed);
    EXPECT_EQ(text(diagram), "1 1 2+ 2+\n1+ 1+ 2 2\n3 1+ 1+ .\n");
}

}  // namespace
}  // namespace zbs::gang
