#include "services/common/adapters/beast/response_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::beast {
namespace {
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

http::Reply reply_of(int status, std::string body) {
    http::Reply reply;
    reply.status = status;
    reply.body = std::move(body);
    return reply;
}

TEST(ResponseText, HeadAndBodyAreOnePiece) {
    const std::string text = response_text(reply_of(200, "{\"a\":1}"), true, false);
    EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: "));
    EXPECT_THAT(text, HasSubstr("\r\nContent-Length: 7\r\n"));
    EXPECT_THAT(text, EndsWith("\r\n\r\n{\"a\":1}"));
    EXPECT_THAT(text, Not(HasSubstr("Connection:")));
}

TEST(ResponseText, SaysWhenItWasMade) {
    EXPECT_EQ(http_date(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(http_date(951'782'400), "Tue, 29 Feb 2000 00:00:00 GMT");
    EXPECT_THAT(response_text(reply_of(200, ""), true, false, http_date(0)),
                HasSubstr("\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"));
    EXPECT_THAT(response_text(reply_of(200, ""), true, false), Not(HasSubstr("Date:")));
    EXPECT_EQ(http_date_now().size(), 29U);
}

TEST(ResponseText, HeadRequestIsToldTheLengthOfABodyThatDoesNotFollow) {
    const std::string text = response_text(reply_of(200, "12345"), true, true);
    EXPECT_THAT(text, HasSubstr("Content-Length: 5\r\n"));
    EXPECT_THAT(text, EndsWith("\r\n\r\n"));
}

TEST(ResponseText, NothingIsKeptByBrowsersUnlessTheReplySaysSo) {
    EXPECT_THAT(response_text(reply_of(200, ""), true, false), HasSubstr("\r\nCache-Control: no-store\r\n"));
    http::Reply reply = reply_of(200, "");
    reply.headers.emplace_back("Cache-Control", "public");
    EXPECT_THAT(response_text(reply, true, false),
                testing::AllOf(HasSubstr("\r\nCache-Control: public\r\n"), Not(HasSubstr("no-store"))));
}

TEST(ResponseText, LastReplySaysThatTheConnectionEnds) {
    EXPECT_THAT(response_text(reply_of(404, ""), false, false), HasSubstr("\r\nConnection: close\r\n"));
}

TEST(ResponseText, HeaderThatWouldBreakOutOfItsLineIsLeftOut) {
    http::Reply reply = reply_of(201, "");
    reply.headers.emplace_back("Location", "/v1/a\r\nSet-Cookie: x=1");
    reply.headers.emplace_back("Retry-After", "5");
    const std::string text = response_text(reply, true, false);
    EXPECT_THAT(text, Not(HasSubstr("Set-Cookie")));
    EXPECT_THAT(text, HasSubstr("\r\nRetry-After: 5\r\n"));
}

TEST(ResponseText, NoContentHasNoLength) {
    EXPECT_THAT(response_text(reply_of(204, ""), true, false), Not(HasSubstr("Content-Length")));
}

}  // namespace
}  // namespace zbs::beast
