#include "algorithms/queue/discipline.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

TEST(QueueDiscipline, TextNamesPolicyAndOptions) {
    for (const char* text : {"fcfs", "easy", "easy:order=slowdown", "backfill:depth=4", "conservative", "los"}) {
        const auto made = queue_discipline(text, 8);
        ASSERT_TRUE(made) << text << ": " << made.error().message;
        EXPECT_NE((*made)(), nullptr);
    }
}

struct WrongText {
    const char* text;
    const char* said;
};
class QueueDisciplineFaults : public testing::TestWithParam<WrongText> {};
INSTANTIATE_TEST_SUITE_P(, QueueDisciplineFaults,
                         testing::Values(WrongText{"", "policy"}, WrongText{"eazy", "easy"},
                                         WrongText{"easy:", "no option"}, WrongText{"easy:order", "no option"},
                                         WrongText{"easy:=3", "no option"}, WrongText{"easy:ordre=slowdown", "order"},
                                         WrongText{"easy:order=slowdown:order=arrival", "order"},
                                         WrongText{"backfill:depth=-1", "depth"}, WrongText{"gang", "share"},
                                         WrongText{"lazy-gang", "share"}, WrongText{"elmer", "share"}));

TEST_P(QueueDisciplineFaults, AreToldWithTheRemedy) {
    const auto made = queue_discipline(GetParam().text, 8);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(made.error().message.find(GetParam().said), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace zbs
