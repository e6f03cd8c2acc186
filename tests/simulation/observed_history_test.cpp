#include "tests/simulation/observed_history.hpp"

#include <gtest/gtest.h>

namespace zbs::simulation {
namespace {

using States = std::vector<std::string>;
const States kOne{"accepted"}, kTwo{"accepted", "planned"}, kOther{"accepted", "rejected"};

TEST(ObservedHistory, OverlappingAnswersMayComeInAnyOrder) {
    ObservedHistory seen;
    const auto first = seen.ask(), second = seen.ask();
    EXPECT_EQ(seen.found(first, kTwo, false), std::nullopt);
    EXPECT_EQ(seen.found(second, kOne, false), std::nullopt);
}

TEST(ObservedHistory, AnswerOlderThanOneThatHadComeIsTold) {
    ObservedHistory seen;
    EXPECT_EQ(seen.found(seen.ask(), kTwo, false), std::nullopt);
    EXPECT_TRUE(seen.found(seen.ask(), kOne, false));
}

TEST(ObservedHistory, TwoPastsAreToldEvenOfOverlappingAnswers) {
    ObservedHistory seen;
    const auto first = seen.ask(), second = seen.ask();
    EXPECT_EQ(seen.found(first, kTwo, false), std::nullopt);
    EXPECT_TRUE(seen.found(second, kOther, false));
}

TEST(ObservedHistory, WhatWasSeenIsFoundByEveryLaterQuestion) {
    ObservedHistory seen;
    const auto before = seen.ask();
    EXPECT_EQ(seen.not_found(before), std::nullopt);
    EXPECT_EQ(seen.found(seen.ask(), kOne, false), std::nullopt);
    EXPECT_EQ(seen.not_found(before), std::nullopt);  // asked before: it may have been answered before, too
    EXPECT_TRUE(seen.not_found(seen.ask()));
}

TEST(ObservedHistory, CancellationIsNeitherForgottenNorInvented) {
    ObservedHistory invented;
    EXPECT_TRUE(invented.found(invented.ask(), kOne, true));
    ObservedHistory forgotten;
    forgotten.ask_to_cancel();
    EXPECT_EQ(forgotten.found(forgotten.ask(), kOne, true), std::nullopt);
    EXPECT_TRUE(forgotten.found(forgotten.ask(), kTwo, false));
}

TEST(ObservedHistory, OneOrderHoldsForChangesAndCancellation) {
    ObservedHistory seen;
    seen.ask_to_cancel();
    const auto first = seen.ask(), second = seen.ask();
    EXPECT_EQ(seen.found(first, kOne, true), std::nullopt);
    EXPECT_TRUE(seen.found(second, kTwo, false));  // cancelled before the second change, and not cancelled after it
}

}  // namespace
}  // namespace zbs::simulation
