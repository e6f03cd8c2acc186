#include "algorithms/gang/classifier.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zbs::gang {
namespace {

constexpr SliceEvidence kIo{.io = true}, kCommunication{.communication = true}, kComputation{.computation = true},
    kBoth{.io = true, .communication = true};

TEST(SliceEvidence, FollowsTheThreeConditions) {
    EXPECT_EQ(evidence_of({.blocked_on_io = true, .communications = 0}), kIo);
    EXPECT_EQ(evidence_of({.blocked_on_io = true, .communications = 2}), kBoth);
    EXPECT_EQ(evidence_of({.blocked_on_io = false, .communications = 2}), kCommunication);
    EXPECT_EQ(evidence_of({.blocked_on_io = false, .communications = 1}), kComputation);
    EXPECT_EQ(evidence_of({.blocked_on_io = false, .communications = 2}, 3), kComputation);
}

// [DaSilva2000, section 6.2.2], the recurrence by hand.
TEST(FuzzyClassifier, ApproachesOneOrAQuarter) {
    Memberships f;
    for (const double expected : {0.9, 0.98, 0.996, 0.9992}) {
        f = update_fuzzy(f, kIo);
        EXPECT_NEAR(f.io, expected, 1e-12);
    }
    Memberships g;
    for (const double expected : {0.3, 0.26, 0.252, 0.2504}) {
        g = update_fuzzy(g, kIo);
        EXPECT_NEAR(g.computation, expected, 1e-12);
    }
    for (int i = 0; i < 2; ++i) f = update_fuzzy(f, kIo);
    EXPECT_NEAR(f.io, 0.999968, 1e-12);
    for (const double expected : {0.3999936, 0.27999872, 0.255999744}) {
        f = update_fuzzy(f, kComputation);
        EXPECT_NEAR(f.io, expected, 1e-9);
    }
}

TEST(FuzzyClassifier, StaysInsideTheUnitInterval) {
    for (const SliceEvidence& slice : {kIo, kCommunication, kComputation, kBoth}) {
        Memberships f;
        for (int i = 0; i < 100; ++i) {
            f = update_fuzzy(f, slice);
            for (const double x : {f.io, f.communication, f.computation}) {
                EXPECT_GT(x, 0);
                EXPECT_LE(x, 1);
            }
        }
    }
}

TEST(FuzzyPriority, PutsIoBeforeComputationBeforeCommunication) {
    const auto limit = [](const SliceEvidence& slice) {
        Memberships f;
        for (int i = 0; i < 60; ++i) f = update_fuzzy(f, slice);
        return priority_v1(f);
    };
    EXPECT_NEAR(limit(kIo), 2.0, 1e-9);
    EXPECT_NEAR(limit(kComputation), 1.0, 1e-9);
    EXPECT_NEAR(limit(kCommunication), 0.5, 1e-9);
    EXPECT_NEAR(limit(kBoth), 2.0, 1e-9);
}

struct BayesCase {
    const char* name;
    std::vector<SliceEvidence> slices;
    Memberships f;
    double priority;
};
class BayesianClassifier : public testing::TestWithParam<BayesCase> {};

// [DaSilva2000, eq. 8.3 and 8.4], the recurrence worked out in exact fractions.
INSTANTIATE_TEST_SUITE_P(
    , BayesianClassifier,
    testing::Values(BayesCase{"Compute1", {kComputation}, {.2, .2, .6}, .6},
                    BayesCase{"Compute2", {2, kComputation}, {1 / 23., 1 / 23., 21 / 23.}, 21 / 23.},
                    BayesCase{"Compute3", {3, kComputation}, {1 / 317., 1 / 317., 315 / 317.}, 315 / 317.},
                    BayesCase{"Compute4", {4, kComputation}, {1 / 9767., 1 / 9767., 9765 / 9767.}, 9765 / 9767.},
                    BayesCase{"Io1", {kIo}, {.6, .2, .2}, .8},
                    BayesCase{"Io2", {2, kIo}, {21 / 23., 1 / 23., 1 / 23.}, 40 / 23.},
                    BayesCase{"Io3", {3, kIo}, {315 / 317., 1 / 317., 1 / 317.}, 628 / 317.},
                    BayesCase{"Io4", {4, kIo}, {9765 / 9767., 1 / 9767., 1 / 9767.}, 19528 / 9767.},
                    BayesCase{"Communication1", {kCommunication}, {.2, .6, .2}, .2},
                    BayesCase{"Communication4", {4, kCommunication}, {1 / 9767., 9765 / 9767., 1 / 9767.}, 1 / 9767.},
                    BayesCase{"Both1", {kBoth}, {3 / 7., 3 / 7., 1 / 7.}, 1 / 7.},
                    BayesCase{"Both2", {2, kBoth}, {21 / 43., 21 / 43., 1 / 43.}, 1 / 43.},
                    BayesCase{"Both3", {3, kBoth}, {315 / 631., 315 / 631., 1 / 631.}, 1 / 631.},
                    BayesCase{"Alternating2", {kIo, kComputation}, {1 / 15. * 9, 1 / 15., 1 / 15. * 5}, 16 / 15.}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(BayesianClassifier, FollowsTheRecurrence) {
    BayesianState state;
    for (const SliceEvidence& slice : GetParam().slices) state = update_bayesian(state, slice);
    EXPECT_NEAR(state.f.io, GetParam().f.io, 1e-12);
    EXPECT_NEAR(state.f.communication, GetParam().f.communication, 1e-12);
    EXPECT_NEAR(state.f.computation, GetParam().f.computation, 1e-12);
    EXPECT_NEAR(priority_v2(state.f), GetParam().priority, 1e-12);
    EXPECT_NEAR(state.f.io + state.f.communication + state.f.computation, 1, 1e-12);
}

TEST(BayesianClassifierLiteral, AlternatingPhasesChangePlaces) {
    BayesianState state;
    std::vector<double> priorities;
    for (const SliceEvidence& slice : {kIo, kComputation, kIo, kComputation}) {
        state = update_bayesian(state, slice);
        priorities.push_back(priority_v2(state.f));
    }
    EXPECT_NEAR(priorities[2], 1.568, 5e-4);
    EXPECT_NEAR(priorities[3], 1.34737, 5e-6);
}

/// Slices of computation until it leads, after `length` slices of I/O; 0 where it never does within 200.
int slices_to_flip(int length, double floor) {
    BayesianState state;
    for (int i = 0; i < length; ++i) state = update_bayesian(state, kIo, floor);
    for (int i = 1; i <= 200; ++i) {
        state = update_bayesian(state, kComputation, floor);
        if (state.f.computation > state.f.io) return i;
    }
    return 0;
}

TEST(BayesianClassifierLiteral, LongPhaseIsForgottenAsSlowlyAsItCame) {
    for (const int length : {1, 2, 4, 8}) EXPECT_EQ(slices_to_flip(length, 0), length + 1) << length;
}

TEST(BayesianClassifierLiteral, MembershipsVanishAfter45EqualSlices) {
    BayesianState state;
    int slices = 0;
    for (; state.f.communication > 0; ++slices) state = update_bayesian(state, kIo);
    EXPECT_EQ(slices, 45);
    for (int i = 0; i < 2000; ++i) state = update_bayesian(state, kCommunication);
    EXPECT_EQ(state.f.communication, 0);
    EXPECT_TRUE(std::isfinite(state.f.io));
}

TEST(BayesianClassifierWithFloor, AnyPhaseIsForgottenWithinFiveSlices) {
    for (const int length : {1, 2, 3, 5, 10, 50, 500}) {
        EXPECT_LE(slices_to_flip(length, kMembershipFloor), 5) << length;
        EXPECT_GE(slices_to_flip(length, kMembershipFloor), 1) << length;
    }
}

TEST(TaskClass, IsTheStrictlyLargestMembership) {
    EXPECT_EQ(class_of({}), TaskClass::kUndecided);
    EXPECT_EQ(class_of({.6, .2, .2}), TaskClass::kIo);
    EXPECT_EQ(class_of({.2, .6, .2}), TaskClass::kCommunication);
    EXPECT_EQ(class_of({.2, .2, .6}), TaskClass::kComputation);
    EXPECT_EQ(class_of({.4, .4, .2}), TaskClass::kUndecided);
}

// [DaSilva2000, proposition 1]: floor <= Pr <= alpha for everything the local scheduler runs; a new task is among it.
TEST(PriorityV2, NewTaskIsAboveTheFloor) { EXPECT_GE(priority_v2({}), kPriorityFloor); }

}  // namespace
}  // namespace zbs::gang
