#include "algorithms/base/suggestion.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zbs {
namespace {

const std::vector<std::string_view> kNames{"fcfs", "easy", "conservative", "multi-queue"};

TEST(Suggestion, FindsTheNearestName) {
    EXPECT_EQ(closest_name("esay", kNames), "easy");
    EXPECT_EQ(closest_name("EASY", kNames), "easy");
    EXPECT_EQ(closest_name("conservativ", kNames), "conservative");
    EXPECT_EQ(closest_name("multi_queue", kNames), "multi-queue");
    EXPECT_EQ(closest_name("fcf", kNames), "fcfs");
}

TEST(Suggestion, IsSilentWhereNothingIsNear) {
    EXPECT_EQ(closest_name("quantum", kNames), "");
    EXPECT_EQ(closest_name("", kNames), "");
    EXPECT_EQ(closest_name("all", std::vector<std::string_view>{"url"}), "");
    EXPECT_EQ(closest_name("easy", {}), "");
}

TEST(Suggestion, EndsAMessage) {
    EXPECT_NE(did_you_mean("esay", kNames).find("did you mean 'easy'?"), std::string::npos);
    EXPECT_NE(did_you_mean("quantum", kNames).find("fcfs, easy, conservative, multi-queue"), std::string::npos);
}

}  // namespace
}  // namespace zbs
