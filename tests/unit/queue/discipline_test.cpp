#include "algorithms/queue/discipline.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

TEST(QueueDiscipline, TextNamesPolicyAndOptions) {
    for (const char* text : {"fcfs", "easy", "easy:order=slowdown", "backfill:depth=4", "conservative", "los"}) {
        const auto made = queue_discipline(text, 8);
        ASSERT_TRUE(made) << text << ": " << made.error().message;
        EXPECT_NE(made->make(), nullptr);
        EXPECT_FALSE(made->needs_agents()) << text;
        EXPECT_EQ(made->rows, 1) << text;
    }
}

TEST(QueueDiscipline, PartsThatShareProcessorsTakeRowsAndAgents) {
    for (const auto& [text, rows] :
         {std::pair{"gang:slices=3", 3}, std::pair{"elmer:degree=4", 4}, std::pair{"scojo", 3},
          std::pair{"adaptive-scojo", 2}, std::pair{"lazy-gang", 1}}) {
        const auto made = queue_discipline(text, 8);
        ASSERT_TRUE(made) << text << ": " << made.error().message;
        EXPECT_TRUE(made->needs_agents()) << text;
        EXPECT_EQ(made->rows, rows) << text;
    }
}

struct WrongText {
    const char* text;
    const char* said;
};
class QueueDisciplineFaults : public testing::TestWithParam<WrongText> {};
INSTANTIATE_TEST_SUITE_P(
    , QueueDisciplineFaults,
    testing::Values(WrongText{"", "policy"}, WrongText{"eazy", "easy"}, WrongText{"easy:", "no option"},
                    WrongText{"easy:order", "no option"}, WrongText{"easy:=3", "no option"},
                    WrongText{"easy:ordre=slowdown", "order"}, WrongText{"easy:order=slowdown:order=arrival", "order"},
                    WrongText{"backfill:depth=-1", "depth"}, WrongText{"gang:packing=ffd", "moves jobs"},
                    WrongText{"gang:migration=arrival", "moves jobs"}, WrongText{"gang:slices=unlimited", "any number"},
                    WrongText{"elmer:degree=17", "17 jobs"}, WrongText{"gang:packing=buddy:slices=17", "17 jobs"}));

TEST_P(QueueDisciplineFaults, AreToldWithTheRemedy) {
    const auto made = queue_discipline(GetParam().text, 8);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(made.error().message.find(GetParam().said), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace zbs
