#include "client/calls/repeated_call.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace zbs::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

HttpAnswer answer(int status, bool try_later = false) { return {status, "{}", {}, false, try_later}; }

TEST(RepeatedCall, WaitsLongerEachTimeAndGivesUpWithinItsPatience) {
    const Error gone{ErrorCode::kUnavailable, "refused", {}};
    Duration now = seconds{100};
    RepeatedCall call(now, seconds{5});
    std::vector<Duration> pauses;
    while (const auto pause = call.pause_after(gone, now)) {
        pauses.push_back(*pause);
        now += *pause;
    }
    ASSERT_GE(pauses.size(), 5u);
    EXPECT_EQ((std::vector<Duration>(pauses.begin(), pauses.begin() + 5)),
              (std::vector<Duration>{milliseconds{100}, milliseconds{200}, milliseconds{400}, milliseconds{800},
                                     seconds{1}}));
    EXPECT_LE(std::accumulate(pauses.begin(), pauses.end(), Duration{0}), seconds{5});
}

TEST(RepeatedCall, OnlyWhatMayPassIsAskedAgain) {
    const std::vector<std::pair<Result<HttpAnswer>, bool>> cases = {
        {answer(200), false},
        {answer(202), false},
        {answer(400), false},
        {answer(404), false},
        {answer(429), false},
        {answer(429, true), true},
        {answer(500), false},
        {answer(503), true},
        {Error{ErrorCode::kTimeout, "silent", {}}, true},
        {Error{ErrorCode::kUnavailable, "refused", {}}, true},
        {Error{ErrorCode::kDenied, "somebody else answers", {}}, false},
        {Error{ErrorCode::kTooLarge, "too large", {}}, false},
    };
    for (const auto& [given, again] : cases) {
        const std::string what = given ? std::to_string(given->status) : given.error().message;
        EXPECT_EQ(is_passing(given), again) << what;
        EXPECT_EQ(RepeatedCall(seconds{0}, seconds{5}).pause_after(given, seconds{1}).has_value(), again) << what;
    }
}

TEST(SuccessOf, IsTheAnswerOrTheServicesOwnWords) {
    EXPECT_EQ(success_of(answer(202))->status, 202);
    const HttpAnswer refused{404,
                             R"({"title":"Not Found","status":404,"detail":"no such application","code":"not_found"})"};
    EXPECT_EQ(success_of(refused).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(success_of(refused).error().message, "no such application");
}

}  // namespace
}  // namespace zbs::client
