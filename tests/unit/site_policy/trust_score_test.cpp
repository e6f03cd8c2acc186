#include "services/zone_scheduler/trust/site_policy/trust_score.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {
using namespace std::chrono_literals;
using enum TrustEvent;

const Time kStart{1'000'000h};

struct Seen {
    TrustEvent event;
    Time at;
};
std::vector<Seen> random_events(Rng& rng, std::uint64_t most) {
    std::vector<Seen> events(rng.below(most) + 1);
    for (Seen& seen : events)
        seen = {kAll<TrustEvent>[rng.below(kAll<TrustEvent>.size())], kStart + std::chrono::hours{rng.below(24 * 200)}};
    return events;
}
TrustHistory history_of(const std::vector<Seen>& events, double initial) {
    TrustHistory history{.initial = initial};
    for (const Seen& seen : events) history = apply(history, seen.event, seen.at);
    return history;
}
double random_initial(Rng& rng) { return static_cast<double>(rng.below(101)) / 100; }

/// The formula over the whole list, as it is documented.
double by_definition(const std::vector<Seen>& events, double initial, Time now) {
    double good = 0, bad = 0;
    for (const Seen& seen : events) {
        const double weight = trust_weight(seen.event) * std::pow(2.0, -to_seconds(now - seen.at) / (30 * 86'400.0));
        (weight > 0 ? good : bad) += std::abs(weight);
    }
    return (good + 20 * initial) / (good + bad + 20);
}

TEST(TrustScore, WithoutHistoryIsTheInitialValue) {
    for (const double initial : {0.0, 0.3, 1.0}) {
        const TrustScore score = explain({.initial = initial}, kStart);
        EXPECT_DOUBLE_EQ(score.score, initial);
        EXPECT_THAT(score.reasons, testing::IsEmpty());
    }
}

TEST(TrustScore, IsWhatTheFormulaSays) {
    TrustHistory history{.initial = 0.5};
    for (int i = 0; i < 5; ++i) history = apply(history, kCleanEnd, kStart);  // g = 10
    EXPECT_DOUBLE_EQ(explain(history, kStart).score, 20.0 / 30);
    history = apply(history, kFailedCheck, kStart);  // b = 10
    EXPECT_DOUBLE_EQ(explain(history, kStart).score, 20.0 / 40);
    EXPECT_DOUBLE_EQ(explain(history, kStart + kTrustHalfLife).score, 15.0 / 30);
    history = apply(history, kHoldDropped, kStart + kTrustHalfLife);  // g = 5, b = 7
    EXPECT_DOUBLE_EQ(explain(history, kStart + kTrustHalfLife).score, 15.0 / 32);
}

TEST(TrustScore, CutAnswersCostAPeerThatOnlyDripsAndNotOneThatAlsoRunsJobs) {
    TrustHistory drips{.initial = 0.5}, slow{.initial = 0.5};
    for (int i = 0; i < 10; ++i) {
        drips = apply(drips, kCutAnswer, kStart);
        slow = apply(slow, kCutAnswer, kStart);
        const double fell = explain(slow, kStart).score;
        for (int run = 0; run < 3; ++run) slow = apply(slow, kHoldKept, kStart);
        EXPECT_GT(explain(slow, kStart).score, fell);
    }
    EXPECT_DOUBLE_EQ(explain(drips, kStart).score, 10.0 / 40);
    EXPECT_GT(explain(slow, kStart).score, 0.5);
}

TEST(TrustScore, ABrokenWordCostsMoreThanASlowAnswerAndLessThanAForgedToken) {
    EXPECT_LT(trust_weight(kBrokenWord), trust_weight(kCutAnswer));
    EXPECT_GT(trust_weight(kBrokenWord), trust_weight(kFailedCheck));
}

TEST(TrustScore, GivesReasonsTheStrongestFirst) {
    TrustHistory history{.initial = 0.5};
    for (int i = 0; i < 3; ++i) history = apply(history, kHoldKept, kStart);
    history = apply(history, kFailedCheck, kStart);
    const TrustScore score = explain(history, kStart + kTrustHalfLife);
    ASSERT_EQ(score.reasons.size(), 2U);
    EXPECT_EQ(score.reasons[0].event, kFailedCheck);
    EXPECT_EQ(score.reasons[0].count, 1U);
    EXPECT_DOUBLE_EQ(score.reasons[0].weight, -5);
    EXPECT_DOUBLE_EQ(score.reasons[0].effect, 11.5 / 26.5 - 11.5 / 21.5);
    EXPECT_EQ(score.reasons[1].event, kHoldKept);
    EXPECT_EQ(score.reasons[1].count, 3U);
    EXPECT_DOUBLE_EQ(score.reasons[1].weight, 1.5);
    EXPECT_DOUBLE_EQ(score.reasons[1].effect, 11.5 / 26.5 - 10.0 / 25);
}

TEST(TrustScore, AClockSetBackForgetsNothingAndAddsNothing) {
    const TrustHistory history = apply({.initial = 0.5}, kFailedCheck, kStart);
    EXPECT_EQ(explain(history, kStart - 1'000h).score, explain(history, kStart).score);
}

TEST(TrustScoreProperty, TheStepByStepHistoryIsTheWholeList) {
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const std::vector<Seen> events = random_events(rng, 60);
        const double initial = random_initial(rng);
        const Time now = kStart + 24h * 200;
        const double score = explain(history_of(events, initial), now).score;
        ASSERT_GE(score, 0);
        ASSERT_LE(score, 1);
        ASSERT_NEAR(score, by_definition(events, initial, now), 1e-9);
    }
}

TEST(TrustScoreProperty, EachEventMovesItsOwnWayAtAnyTime) {
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const TrustHistory before = history_of(random_events(rng, 30), random_initial(rng));
        const Seen one{kAll<TrustEvent>[rng.below(6)], kStart + std::chrono::hours{rng.below(24 * 250)}};
        const TrustHistory after = apply(before, one.event, one.at);
        const Time now = std::max(before.at, after.at) + std::chrono::hours{rng.below(5'000)};
        const double change = explain(after, now).score - explain(before, now).score;
        if (trust_weight(one.event) > 0) {
            ASSERT_GE(change, -1e-12);
        } else {
            ASSERT_LE(change, 1e-12);
        }
    }
}

TEST(TrustScoreProperty, ForgettingMovesTowardTheInitialValueAndNotPastIt) {
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const double initial = random_initial(rng);
        const TrustHistory history = history_of(random_events(rng, 30), initial);
        const double now = explain(history, history.at).score;
        const double later = explain(history, history.at + std::chrono::hours{rng.below(10'000)}).score;
        ASSERT_LE(std::abs(later - initial), std::abs(now - initial) + 1e-12);
        ASSERT_GE((later - initial) * (now - initial), -1e-12);
        ASSERT_NEAR(explain(history, history.at + 24h * 3'650).score, initial, 1e-6);
    }
}

TEST(TrustScoreProperty, OrderDoesNotMatter) {
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::vector<Seen> events = random_events(rng, 20);
        const bool at_once = seed % 2 == 0;
        for (Seen& seen : events) seen.at = at_once ? kStart : seen.at;
        const TrustHistory one = history_of(events, 0.5);
        for (std::size_t i = events.size(); i > 1; --i) std::swap(events[i - 1], events[rng.below(i)]);
        const TrustHistory two = history_of(events, 0.5);
        if (at_once) {
            ASSERT_EQ(one, two) << "events of one instant: to the bit";
        }
        ASSERT_EQ(one.count, two.count);
        ASSERT_EQ(one.at, two.at);
        for (std::size_t i = 0; i < one.weight.size(); ++i) ASSERT_NEAR(one.weight[i], two.weight[i], 1e-9);
    }
}

}  // namespace
}  // namespace zbs
