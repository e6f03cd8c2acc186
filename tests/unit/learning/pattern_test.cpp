#include "algorithms/learning/pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "algorithms/base/collective_pattern.hpp"
#include "algorithms/learning/coefficient_law.hpp"
#include "algorithms/learning/model_error.hpp"
#include "tests/support/made_graph.hpp"

namespace zbs::learning {
namespace {

using Kind = Pattern::Kind;
using testing::ElementsAre;

TEST(BalancedFactors, AreThoseOfMpiDimsCreate) {
    struct Case {
        int ranks, dimensions;
        std::array<int, 3> factors;
    };
    for (const Case& c :
         {Case{1, 2, {1, 1, 1}}, Case{6, 2, {3, 2, 1}}, Case{7, 2, {7, 1, 1}}, Case{12, 2, {4, 3, 1}},
          Case{6, 3, {3, 2, 1}}, Case{7, 3, {7, 1, 1}}, Case{16, 3, {4, 2, 2}}, Case{24, 3, {4, 3, 2}},
          Case{60, 3, {5, 4, 3}}, Case{64, 3, {4, 4, 4}}, Case{128, 3, {8, 4, 4}}, Case{1'000'000, 3, {100, 100, 100}}})
        EXPECT_EQ(balanced_factors(c.ranks, c.dimensions), c.factors) << c.ranks << " in " << c.dimensions;
}

TEST(GridOf, RowsOfAFixedLengthNeedADivisor) {
    const GridRule rule{2, GridRule::Shape::kFixedFastest, 4};
    EXPECT_EQ(grid_of(rule, 24)->length, (std::array<int, 3>{6, 4, 1}));
    EXPECT_FALSE(grid_of(rule, 25));
}

std::set<std::pair<int, int>> pairs_in(const Pattern& pattern, int ranks) {
    std::set<std::pair<int, int>> all;
    const auto pairs = pairs_of(pattern, ranks, 1'000'000);
    for (const PatternPair& p : *pairs) all.emplace(p.u, p.v);
    return all;
}

TEST(PairsOf, BinomialTreeIsThatOfTheCollectives) {
    for (const int ranks : {1, 2, 3, 7, 8, 13, 64}) {
        std::set<std::pair<int, int>> sent;
        for (int rank = 0; rank < ranks; ++rank)
            collectives::gather({ranks, rank}, 0, 1,
                                [&](int to, auto, int) { sent.emplace(std::min(to, rank), std::max(to, rank)); });
        EXPECT_EQ(pairs_in({Kind::kBinomialTree, {}, 0}, ranks), sent) << ranks;
    }
}

TEST(PairsOf, HypercubeIsThatOfAllreduce) {
    for (const int ranks : {1, 2, 3, 6, 8, 13, 64}) {
        std::set<std::pair<int, int>> sent;
        for (int rank = 0; rank < ranks; ++rank)
            collectives::allreduce({ranks, rank}, {1, 8},
                                   [&](int to, auto, int) { sent.emplace(std::min(to, rank), std::max(to, rank)); });
        EXPECT_EQ(pairs_in({Kind::kHypercube, {}, 0}, ranks), sent) << ranks;
    }
}

TEST(PairsOf, DoublingDistancesAreThoseOfABarrier) {
    for (const int ranks : {2, 5, 16}) {
        std::set<std::pair<int, int>> sent;
        for (int rank = 0; rank < ranks; ++rank)
            collectives::barrier({ranks, rank},
                                 [&](int to, auto, int) { sent.emplace(std::min(to, rank), std::max(to, rank)); });
        EXPECT_EQ(pairs_in({Kind::kDoubling, {}, 0}, ranks), sent) << ranks;
    }
}

TEST(PairsOf, NumbersOfPairsAreThoseOfTheFormulas) {
    struct Case {
        Pattern pattern;
        int ranks;
        std::size_t pairs;
    };
    const GridRule plane{2, GridRule::Shape::kBalanced, 0}, box{3, GridRule::Shape::kBalanced, 0};
    for (const Case& c :
         {Case{{Kind::kStencil, {}, 0}, 10, 9}, Case{{Kind::kStencil, {}, 1}, 10, 10},
          Case{{Kind::kStencil, plane, 0}, 12, 3 * 3 + 4 * 2 + 2 * 3 * 2}, Case{{Kind::kStencil, plane, 3}, 12, 4 * 12},
          Case{{Kind::kStencil, box, 0}, 27, 3 * 18 + 6 * 12 + 4 * 8}, Case{{Kind::kStencil, box, 7}, 27, 13 * 27},
          Case{{Kind::kFirstWithAll, {}, 0}, 9, 8}, Case{{Kind::kAllPairs, {}, 0}, 9, 36},
          Case{{Kind::kRowPairs, plane, 0}, 12, 4 * 3}, Case{{Kind::kColumnPairs, plane, 0}, 12, 3 * 6},
          Case{{Kind::kRowHypercube, plane, 0}, 64, 8 * 12}})
        EXPECT_EQ(pairs_of(c.pattern, c.ranks, 10'000)->size(), c.pairs) << to_string(c.pattern) << " on " << c.ranks;
}

TEST(PairsOf, BothWaysAroundARingOfTwoCountTwice) {
    const auto pairs = pairs_of({Kind::kStencil, {}, 1}, 2, 10);
    EXPECT_THAT(*pairs, ElementsAre(PatternPair{0, 1, pairs->at(0).of_class, 2}));
}

TEST(PairsOf, StopsAtTheMost) {
    EXPECT_FALSE(pairs_of({Kind::kAllPairs, {}, 0}, 1'000'000, 1'000));
    EXPECT_TRUE(pairs_of({Kind::kAllPairs, {}, 0}, 10, 45));
    EXPECT_FALSE(pairs_of({Kind::kAllPairs, {}, 0}, 10, 44));
}

TEST(PowerLaw, GoesThroughItsPoints) {
    const std::vector<LawPoint> points = {{2, 12}, {4, 48}, {8, 192}};
    const PowerLaw law = fit_power_law(points, 0);
    EXPECT_NEAR(law.exponent, 2, 1e-12);
    EXPECT_NEAR(law.at(16), 768, 1e-9);
}

TEST(PowerLaw, OfOnePointHasTheAssumedExponent) {
    const std::vector<LawPoint> points = {{4, 8}};
    EXPECT_NEAR(fit_power_law(points, -1).at(8), 4, 1e-12);
}

TEST(PredictCoefficients, NewLevelsFollowTheOthers) {
    // Parts of a gathering: twice as much from level to level, half as much with twice the ranks.
    std::vector<Coefficient> known;
    for (const int ranks : {8, 16})
        for (int level = 0; (1 << level) < ranks; ++level)
            known.push_back({ranks, level, 1024.0 / ranks * (1 << level)});
    const std::vector<int> wanted = {0, 1, 2, 3, 4, 5};
    const LawPrediction found = predict_coefficients({Kind::kBinomialTree, {}, 0}, known, wanted, {.wanted = 64});
    EXPECT_TRUE(found.fitted);
    for (const int level : wanted) EXPECT_NEAR(found.amount_of_class.at(level), 16.0 * (1 << level), 1e-6) << level;
}

TEST(PredictCoefficients, WhatHasDiedOutStaysSo) {
    const std::vector<Coefficient> known = {{8, 0, 100}, {16, 0, 0}};
    const std::vector<int> wanted = {0};
    EXPECT_EQ(predict_coefficients({Kind::kAllPairs, {}, 0}, known, wanted, {.wanted = 32}).amount_of_class.at(0), 0);
    EXPECT_GT(predict_coefficients({Kind::kAllPairs, {}, 0}, known, wanted, {.wanted = 4}).amount_of_class.at(0), 0);
}

TEST(TrafficDifference, IsTheShareOfBytesThatAreElsewhere) {
    const TaskGraph a = zbs::test::made({1, 1, 1}, {{0, 1, 100, 1}}), b = zbs::test::made({1, 1, 1}, {{1, 2, 100, 1}});
    const TaskGraph thrice = zbs::test::made({1, 1, 1}, {{0, 1, 300, 1}}), silent = zbs::test::made({1, 1, 1}, {});
    EXPECT_EQ(traffic_difference(a, a), 0);
    EXPECT_EQ(traffic_difference(a, b), 1);
    EXPECT_EQ(traffic_difference(a, thrice), 0.5);
    EXPECT_EQ(traffic_difference(silent, silent), 0);
    EXPECT_EQ(traffic_difference(silent, a), 1);
}

}  // namespace
}  // namespace zbs::learning
