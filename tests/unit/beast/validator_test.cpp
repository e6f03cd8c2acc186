#include "services/common/adapters/beast/response_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::beast {
namespace {
using testing::Contains;
using testing::Pair;

const std::string kTag = entity_tag("{}");

TEST(Validator, OfABodyIsTheBeginningOfItsSha256) {
    EXPECT_EQ(entity_tag("{}"), "\"44136fa355b3678a1146ad16f7e8649e\"");
    EXPECT_NE(entity_tag("{} "), entity_tag("{}"));
}

TEST(Validator, ARequestNamesItAloneInAListOrByAStar) {
    for (const std::string& header : {kTag, "W/" + kTag, "\"a\", " + kTag, "\"a\"," + kTag + ",\"b\"", std::string("*"),
                                      " " + kTag + " ", std::string(" * ")})
        EXPECT_TRUE(names_tag(header, kTag)) << header;
    for (const std::string& header : {std::string(), std::string("\"a\""), kTag.substr(1), kTag.substr(0, 5),
                                      "x" + kTag, "\"a, " + kTag.substr(1), std::string("**"), "*, " + kTag,
                                      "W/" + kTag.substr(1), std::string("\""), std::string(",,"), std::string("W/")})
        EXPECT_FALSE(names_tag(header, kTag)) << header;
}

TEST(Validator, AReplyThatIsKnownIsNotSentAgain) {
    const http::Reply first = validated({200, "application/json", "{}", {{"Zbs-Request-Id", "1"}}}, "");
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.body, "{}");
    EXPECT_THAT(first.headers, Contains(Pair("ETag", kTag)));
    EXPECT_THAT(first.headers, Contains(Pair("Cache-Control", "private, no-cache")));
    const http::Reply again = validated({200, "application/json", "{}", {{"Zbs-Request-Id", "2"}}}, kTag);
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
    EXPECT_THAT(again.headers, Contains(Pair("ETag", kTag)));
    EXPECT_THAT(again.headers, Contains(Pair("Zbs-Request-Id", "2")));
}

TEST(Validator, WhatIsNoWholeJsonOfStatus200IsLeftAlone) {
    struct Nothing : http::Stream {
        void next(std::function<void(std::string)>) override {}
    };
    for (const http::Reply& reply :
         {http::Reply{201, "application/json", "{}", {}}, http::Reply{404, "application/problem+json", "{}", {}},
          http::Reply{200, "text/plain", "{}", {}},
          http::Reply{200, "application/json", "{}", {{"Cache-Control", "x"}}},
          http::Reply{200, "application/json", "{}", {}, std::make_shared<Nothing>()}}) {
        const http::Reply same = validated(reply, "*");
        EXPECT_EQ(same.status, reply.status);
        EXPECT_EQ(same.body, "{}");
        EXPECT_EQ(same.headers, reply.headers);
    }
}

}  // namespace
}  // namespace zbs::beast
