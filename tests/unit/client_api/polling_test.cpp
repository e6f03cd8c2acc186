#include "client/api/event_waiter.hpp"

#include <gtest/gtest.h>

namespace {
using namespace std::chrono_literals;
using zbs::client::pause_after;

TEST(Polling, PausesAreAnEighthOfTheWaitWithinBounds) {
    EXPECT_EQ(pause_after(0s), 20ms);
    EXPECT_EQ(pause_after(-1s), 20ms);
    EXPECT_EQ(pause_after(160ms), 20ms);
    EXPECT_EQ(pause_after(800ms), 100ms);
    EXPECT_EQ(pause_after(1600ms), 200ms);
    EXPECT_EQ(pause_after(240h), 200ms);
}

TEST(Polling, AJobOfOneSecondCostsFewQuestions) {
    int questions = 0;
    for (std::chrono::milliseconds waited{0}; waited < 1s; waited += pause_after(waited)) ++questions;
    EXPECT_LE(questions, 25);
}

}  // namespace
