#include "services/common/http/reply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/base/utf8.hpp"

namespace zbs::http {
namespace {

constexpr std::array kCodes = {std::pair{ErrorCode::kInvalidArgument, 400}, std::pair{ErrorCode::kUnauthenticated, 401},
                               std::pair{ErrorCode::kDenied, 403},          std::pair{ErrorCode::kNotFound, 404},
                               std::pair{ErrorCode::kConflict, 409},        std::pair{ErrorCode::kIdReused, 422},
                               std::pair{ErrorCode::kTooLarge, 413},        std::pair{ErrorCode::kTooManyRequests, 429},
                               std::pair{ErrorCode::kRejected, 422},        std::pair{ErrorCode::kUnavailable, 503},
                               std::pair{ErrorCode::kTimeout, 504},         std::pair{ErrorCode::kInternal, 500}};
static_assert(kCodes.size() == static_cast<std::size_t>(ErrorCode::kInternal) + 1, "every code stands in the table");

TEST(Problem, EveryCodeHasItsStatusAndComesBack) {
    for (const auto& [code, status] : kCodes) {
        const Reply reply = problem({code, "what happened", "/a/b"});
        EXPECT_EQ(reply.status, status) << to_string(code);
        EXPECT_EQ(reply.content_type, "application/problem+json");
        const codec::Json expected = {
            {"type", std::string("urn:zbs:problem:") + to_string(code)},
            {"title", to_string(code)},
            {"status", status},
            {"code", to_string(code)},
            {"detail", "at /a/b: what happened"},
            {"errors", codec::Json::array({{{"pointer", "/a/b"}, {"detail", "what happened"}}})}};
        EXPECT_EQ(*codec::parse(reply.body), expected);
        EXPECT_EQ(read_problem(reply.status, reply.body), (Error{code, "at /a/b: what happened", {}}));
        EXPECT_EQ(read_problem_of_call(reply.status, reply.body), (Error{code, "what happened", "/a/b"}));
    }
}

TEST(Problem, WithoutAPlaceThereIsNoErrorsList) {
    const codec::Json json = *codec::parse(problem(Error{ErrorCode::kConflict, "no", {}}).body);
    EXPECT_FALSE(json.contains("errors"));
    EXPECT_EQ(json["detail"], "no");
}

TEST(Problem, OnlyWhatPassesIsWorthARetry) {
    for (const auto& [code, status] : kCodes) {
        const bool passes = status == 503;  // a full store (429) is not emptied by asking again; a rate limit says when
        EXPECT_EQ(problem({code, "", {}}).headers.empty(), !passes) << to_string(code);
    }
}

TEST(Problem, AStatusOfHttpsOwnStandsInTheBodyToo) {
    const Reply reply = problem(invalid("no"), 405);
    EXPECT_EQ(reply.status, 405);
    EXPECT_EQ((*codec::parse(reply.body))["status"], 405);
}

TEST(Problem, TextThatIsNoUtf8IsStillJson) { EXPECT_TRUE(codec::parse(problem(invalid("\xff\xfe")).body)); }

TEST(ReadProblem, APlaceThatTheMessageDoesNotTellStaysOut) {
    for (const char* errors : {"7", "[]", "[7]", "[{}]", R"([{"pointer":7}])", R"([{"pointer":"/b"}])"}) {
        const std::string body = std::string(R"({"detail":"at /a: no","errors":)") + errors + "}";
        EXPECT_EQ(read_problem_of_call(400, body), invalid("at /a: no")) << errors;
    }
    EXPECT_EQ(read_problem_of_call(400, "<html>").code, ErrorCode::kInvalidArgument);
}

TEST(ReadProblem, TakesAnyBody) {
    for (const char* body : {"", "<html>", "[]", "null", "{}", R"({"detail":7,"code":[]})", R"({"code":"nonsense"})"}) {
        const Error error = read_problem(503, body);
        EXPECT_EQ(error.code, ErrorCode::kUnavailable) << body;
        EXPECT_FALSE(error.message.empty()) << body;
    }
    EXPECT_EQ(read_problem(200, "").code, ErrorCode::kInternal);
    for (const auto& [status, code] : {std::pair{405, ErrorCode::kInvalidArgument}, std::pair{408, ErrorCode::kTimeout},
                                       std::pair{431, ErrorCode::kTooLarge}, std::pair{502, ErrorCode::kUnavailable}}) {
        EXPECT_EQ(read_problem(status, "").code, code) << status;
    }
}

/// What a peer says ends up in our own records, which are read back with limits.
TEST(ReadProblem, LongMessagesAreCutBetweenCharacters) {
    for (int shift = 0; shift < 4; ++shift) {
        std::string detail(static_cast<std::size_t>(shift), 'x');
        for (int i = 0; i < 2000; ++i) detail += "\xf0\x9f\x98\x80";
        const Error error = read_problem(400, codec::dump({{"detail", detail}}));
        EXPECT_LE(error.message.size(), 1024U);
        EXPECT_GT(error.message.size(), 1020U);
        EXPECT_TRUE(is_utf8(error.message));
    }
    EXPECT_EQ(read_problem(400, codec::dump({{"detail", std::string(1024, 'x')}})).message.size(), 1024U);
}

TEST(Replies, OfThingsMadeSayWhereTheyAre) {
    EXPECT_EQ(created("/v1/a", {{"a", 1}}).status, 201);
    EXPECT_EQ(accepted("/v1/a", {{"a", 1}}).status, 202);
    EXPECT_THAT(created("/v1/a", {}).headers, testing::ElementsAre(testing::Pair("Location", "/v1/a")));
}

}  // namespace
}  // namespace zbs::http
