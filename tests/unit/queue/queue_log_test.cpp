#include "algorithms/queue/queue_log.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

using namespace std::chrono_literals;

PartId logged_part(unsigned char n) {
    Id128 id{};
    id.bytes.back() = n;
    return PartId{id};
}
WaitingPart waits(unsigned char n, int processors) { return {logged_part(n), "org-a", 0s, processors, 100s}; }

TEST(QueueReplay, FindsTheFirstDecisionThatIsAnother) {
    std::vector<QueueEvent> log = {QueueOpened{4}, DisciplineChosen{"fcfs"}, PartWaits{waits(1, 3)},
                                   PartWaits{waits(2, 2)}};
    QueueDecision decision{{logged_part(1)}, {{logged_part(2), 1, 100s, kNoStart, WaitsFor::kTurn}}};
    log.push_back(Decided{0s, {}, decision});
    auto good = replay(log);
    ASSERT_TRUE(good) << good.error();
    EXPECT_EQ(good->decisions, 1U);
    EXPECT_EQ(good->starts, 1U);
    EXPECT_FALSE(good->first_difference);
    decision.starts = {logged_part(2)};
    log.back() = Decided{0s, {}, decision};
    good = replay(log);
    ASSERT_TRUE(good && good->first_difference);
    EXPECT_EQ(good->first_difference->event, 4U);
    EXPECT_EQ(good->first_difference->replayed.starts, std::vector{logged_part(1)});
}

TEST(QueueReplay, EachLifeOfTheZoneBeginsWithAnEmptyQueue) {
    const std::vector<QueueEvent> log = {QueueOpened{1}, PartWaits{waits(1, 1)}, QueueOpened{1}, Decided{}};
    const auto done = replay(log);
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->first_difference);
}

struct BadLog {
    std::vector<QueueEvent> log;
    const char* said;
};
class BadLogs : public testing::TestWithParam<BadLog> {};
INSTANTIATE_TEST_SUITE_P(
    , BadLogs,
    testing::Values(
        BadLog{{PartWaits{waits(1, 1)}}, "event 1: the log has to begin"},
        BadLog{{QueueOpened{0}}, "event 1: a zone has 1 to"},
        BadLog{{QueueOpened{1}, DisciplineChosen{"gang"}}, "event 2: policy 'gang' takes 5 rows"},
        BadLog{{QueueOpened{3, 2}}, "event 1: each row"},
        BadLog{{QueueOpened{1}, PartWaits{waits(1, 1)}, PartWaits{waits(1, 1)}}, "event 3: part"},
        BadLog{{QueueOpened{1}, PartLeaves{logged_part(1)}}, "does not wait"},
        BadLog{{QueueOpened{1}, ProcessorsPromised{logged_part(1), "o", {{1}, {0s, 1s}, 1s}, 0s}},
               "there is no processor 1"},
        BadLog{{QueueOpened{2}, Decided{0s, {{logged_part(1), {true}}}, {}}}, "each of the 2 processors"},
        BadLog{{QueueContinued{}}, "event 1: the log has to begin"},
        BadLog{{QueueOpened{1}, QueueContinued{0s, {{"o", -1.0}}, {}}}, "use of 'o' is out of range"},
        BadLog{{QueueOpened{1}, QueueContinued{0s, {}, {.parts = {{logged_part(1), {}}}}}}, "does not wait"},
        BadLog{{QueueOpened{1}, PartWaits{waits(1, 1)}, QueueContinued{0s, {}, {.parts = {{logged_part(1), {}}}}}},
               "job -1"},
        BadLog{{QueueOpened{1}, QueueContinued{0s, {}, {.rows = {{{logged_part(1), {0}}}}}}}, "has slots"},
        BadLog{{QueueOpened{1}, QueueContinued{0s, {}, {.stopped = {logged_part(1)}}}}, "was not stopped"},
        BadLog{{QueueOpened{1}, WeightSet{"o", 0}}, "a weight is more than 0"},
        BadLog{{QueueOpened{1}, Decided{Duration::max(), {}, {}}}, "out of range"}));

TEST_P(BadLogs, AreRefusedWithThePlace) {
    const auto done = replay(GetParam().log);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find(GetParam().said), std::string::npos) << done.error().message;
}

}  // namespace
}  // namespace zbs
