#include "services/common/http/rate_limit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "services/common/http/reply.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::http {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RateLimits kSmall{.user = {10, 20}, .zone = {100, 200}, .anonymous = {5, 10}, .connection = {2, 3}};

PeerIdentity known(CallerKind kind, const char* organisation, const char* name) {
    return {{kind, OrganisationName(organisation), name}, Evidence::kCertificate};
}
const PeerIdentity kAna = known(CallerKind::kUser, "org-a", "ana");

class RateLimiterTest : public testing::Test {
  protected:
    /// How many of `tries` calls at this moment go ahead.
    int pass(const PeerIdentity& peer, int tries, const std::string& address = "10.0.0.1") {
        int passed = 0;
        for (int i = 0; i < tries; ++i) passed += !limiter.take(peer, address, clock.steady_now()).has_value();
        return passed;
    }
    test::VirtualClock clock;
    RateLimiter limiter{kSmall};
};

struct Case {
    const char* name;
    PeerIdentity peer;
    int burst;
    int in_ten_seconds;  ///< more, later
};
class RateLimiterKinds : public RateLimiterTest, public testing::WithParamInterface<Case> {};

INSTANTIATE_TEST_SUITE_P(, RateLimiterKinds,
                         testing::Values(Case{"User", kAna, 20, 100},
                                         Case{"Operator", known(CallerKind::kOperator, "org-a", "root"), 20, 100},
                                         Case{"Zone", known(CallerKind::kZone, "org-b", "beta"), 200, 1'000},
                                         Case{"Registry", known(CallerKind::kRegistry, "grid", "r"), 200, 1'000},
                                         Case{"Nobody", {}, 10, 50},
                                         Case{"ARefusedCertificate", PeerIdentity::refused("expired"), 10, 50}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(PeerIdentity, IsPrintedByTestsWithItsValues) {
    EXPECT_EQ(testing::PrintToString(PeerIdentity::refused("expired")), "anonymous, evidence 0, refused: expired");
}

TEST_P(RateLimiterKinds, HaveTheirBurstAndThenTheirRate) {
    EXPECT_EQ(pass(GetParam().peer, 5'000), GetParam().burst);
    int later = 0;
    for (int i = 0; i < 100; ++i) {
        clock.advance(milliseconds{100});
        later += pass(GetParam().peer, 100);
    }
    EXPECT_EQ(later, GetParam().in_ten_seconds);
    clock.advance(seconds{3'600});
    EXPECT_EQ(pass(GetParam().peer, 5'000), GetParam().burst) << "a rest fills the bucket, and no more than that";
}

TEST_F(RateLimiterTest, NobodyPaysForAnother) {
    EXPECT_EQ(pass(kAna, 100), 20);
    EXPECT_EQ(pass(known(CallerKind::kUser, "org-a", "bob"), 100), 20);
    EXPECT_EQ(pass(known(CallerKind::kUser, "org-b", "ana"), 100), 20) << "the same name elsewhere";
    EXPECT_EQ(pass(known(CallerKind::kOperator, "org-a", "ana"), 100), 20);
    EXPECT_EQ(pass({}, 100, "10.0.0.1"), 10);
    EXPECT_EQ(pass({}, 100, "10.0.0.2"), 10);
}

TEST_F(RateLimiterTest, AnotherAddressIsNoSecondBucketForAName) {
    EXPECT_EQ(pass(kAna, 100, "10.0.0.1"), 20);
    EXPECT_EQ(pass(kAna, 100, "10.0.0.2"), 0);
}

TEST_F(RateLimiterTest, TheWaitIsTheTimeUntilTheNextGoesAhead) {
    pass(kAna, 20);
    const auto wait = limiter.take(kAna, {}, clock.steady_now());
    ASSERT_TRUE(wait);
    EXPECT_EQ(*wait, milliseconds{100});
    clock.advance(*wait - Duration{1});
    EXPECT_EQ(pass(kAna, 1), 0);
    clock.advance(Duration{1});
    EXPECT_EQ(pass(kAna, 2), 1);
}

TEST_F(RateLimiterTest, ConnectionsAreCountedByAddress) {
    const auto connect = [&](const char* address) {
        return !limiter.take_connection(address, clock.steady_now()).has_value();
    };
    EXPECT_TRUE(connect("::1") && connect("::1") && connect("::1"));
    EXPECT_FALSE(connect("::1"));
    EXPECT_TRUE(connect("::2"));
    EXPECT_EQ(pass({}, 100, "::1"), 10) << "calls are counted apart from connections";
}

TEST_F(RateLimiterTest, ZeroIsNoLimit) {
    RateLimiter open(RateLimits{.user = {0, 0}});
    for (int i = 0; i < 100'000; ++i) ASSERT_FALSE(open.take(kAna, {}, clock.steady_now()));
    EXPECT_EQ(open.size(), 0U);
}

TEST_F(RateLimiterTest, OtherLimitsCountFromTheNextCallOnAlsoForThoseWhoWaited) {
    limiter.set_limits({.user = {0.001, 2}});
    EXPECT_EQ(pass(kAna, 100), 2);  // under these the next one would be in a quarter of an hour
    EXPECT_EQ(pass(kAna, 100), 0);
    limiter.set_limits(kSmall);
    EXPECT_EQ(pass(kAna, 100), 0) << "an empty bucket is empty";
    clock.advance(seconds{1});
    EXPECT_EQ(pass(kAna, 100), 10);
    limiter.set_limits({.user = {0, 1}});
    EXPECT_EQ(pass(kAna, 1'000), 1'000);
}

TEST_F(RateLimiterTest, AFloodOfNamesTakesBoundedRoomAndThrowsOutTheSilent) {
    RateLimiter limited(kSmall, 160);
    const auto take = [&](const PeerIdentity& peer, const std::string& address) {
        return !limited.take(peer, address, clock.steady_now()).has_value();
    };
    for (int i = 0; i < 20; ++i) take(kAna, {});
    for (int i = 0; i < 20'000; ++i) {
        take({}, "10." + std::to_string(i));
        const bool forgotten = i % 4 == 0 && take(kAna, {});
        ASSERT_FALSE(forgotten) << "who keeps asking is remembered";
    }
    EXPECT_LE(limited.size(), 160U);
    EXPECT_GE(limited.size(), 100U);
}

TEST_F(RateLimiterTest, ManyThreadsTogetherGetNoMoreThanOneWould) {
    std::atomic<int> passed = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] { passed += pass(kAna, 10'000); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(passed, 20);
}

TEST(TooManyRequests, SaysWhoAndWhenInAProblem) {
    const Reply reply = too_many_requests(kAna, milliseconds{2'100});
    EXPECT_EQ(reply.status, 429);
    EXPECT_THAT(reply.headers, testing::ElementsAre(testing::Pair("Retry-After", "3"),
                                                    testing::Pair("RateLimit", "\"user\";r=0;t=3")));
    EXPECT_EQ(too_many_requests({}, Duration{1}).headers.back().second, "\"anonymous\";r=0;t=1");
    EXPECT_EQ(too_many_requests(kAna, Duration{1}, "streams").headers.back().second, "\"streams\";r=0;t=1");
    const Error error = read_problem(reply.status, reply.body);
    EXPECT_EQ(error.code, ErrorCode::kTooManyRequests);
    EXPECT_THAT(error.message, testing::HasSubstr("spiffe://org-a/user/ana; ask again in 3 s"));
    EXPECT_EQ(too_many_requests({}, Duration{1}).headers.front().second, "1");
}

}  // namespace
}  // namespace zbs::http
