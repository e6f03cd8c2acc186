#include "services/common/codec/json/json.hpp"

#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

std::string nested(int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

TEST(Json, ReadsEveryKindOfValue) {
    const auto json =
        parse(R"( {"a":[1,-2,2.5,true,false,null,"\u00e4\ud83d\ude00"],"b":{"a":{}},"c":18446744073709551615} )");
    ASSERT_TRUE(json) << json.error();
    EXPECT_EQ(*json, Json::parse(R"({"a":[1,-2,2.5,true,false,null,"ä😀"],"b":{"a":{}},"c":18446744073709551615})"));
    EXPECT_EQ(*parse("7"), Json(7));
}

struct Duplicate {
    const char* text;
    const char* pointer;
};
TEST(Json, DuplicateKeysAreRefusedWithTheirPlace) {
    for (const Duplicate& c : {Duplicate{R"({"a":1,"a":2})", "/a"},
                               {R"({"b":{"x":0},"a":1,"b":2})", "/b"},
                               {R"({"o":{"a":1,"a":1}})", "/o/a"},
                               {R"([{"a":1,"a":1}])", "/0/a"},
                               {R"([0,[1,{"k":1,"k":1}]])", "/1/1/k"},
                               {R"({"l":[{},{"a":[],"b":1,"a":1}]})", "/l/1/a"},
                               {R"({"a/b":{"~":1,"~":1}})", "/a~1b/~0"},
                               {R"({"a":1,"\u0061":2})", "/a"}}) {
        const auto json = parse(c.text);
        ASSERT_FALSE(json) << c.text;
        EXPECT_EQ(json.error().pointer, c.pointer) << c.text;
        EXPECT_NE(json.error().message.find("twice"), std::string::npos) << c.text;
    }
    EXPECT_TRUE(parse(R"([{"a":1},{"a":1}])"));
    EXPECT_TRUE(parse(R"({"a":{"a":{"a":1}}})"));
}

TEST(Json, DepthIsLimited) {
    EXPECT_TRUE(parse(nested(limits::kMaxJsonDepth)));
    const auto deep = parse(nested(limits::kMaxJsonDepth + 1));
    ASSERT_FALSE(deep);
    EXPECT_NE(deep.error().message.find("deeper than 16"), std::string::npos);
    EXPECT_EQ(deep.error().pointer, "/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0");
    EXPECT_FALSE(parse(nested(1'000'000)));
    std::string objects = "1";
    for (int i = 0; i < limits::kMaxJsonDepth; ++i) objects = R"({"k":)" + objects + "}";
    EXPECT_TRUE(parse(objects));
    EXPECT_FALSE(parse(R"({"k":)" + objects + "}"));
    EXPECT_TRUE(parse("[" + nested(15) + "," + nested(15) + "]")) << "width is not depth";
}

TEST(Json, WhatIsNotJsonIsRefusedWithTheByte) {
    for (const std::string& text : std::vector<std::string>{"",
                                                            " ",
                                                            "{",
                                                            "[1,]",
                                                            "{\"a\":1,}",
                                                            "{'a':1}",
                                                            "{a:1}",
                                                            "[1] 2",
                                                            "{}{}",
                                                            "nul",
                                                            "NaN",
                                                            "Infinity",
                                                            "-",
                                                            "01",
                                                            "1.",
                                                            ".5",
                                                            "+1",
                                                            "1e",
                                                            "1e999",
                                                            "\"a",
                                                            "\"\t\"",
                                                            "\"\\x\"",
                                                            "\"\\ud800\"",
                                                            "// c\n1",
                                                            "1 /* c */",
                                                            "\xef\xbb\xbf[",
                                                            "\"\xff\"",
                                                            "\"\xc0\xaf\"",
                                                            "\"\xed\xa0\x80\"",
                                                            "\"\xf4\x90\x80\x80\"",
                                                            std::string("1\0", 2),
                                                            std::string("\"\0\"", 3),
                                                            std::string("\0", 1),
                                                            "\x01"}) {
        const auto json = parse(text);
        ASSERT_FALSE(json) << text;
        EXPECT_EQ(json.error().code, ErrorCode::kInvalidArgument) << text;
        EXPECT_TRUE(json.error().pointer.starts_with("byte ")) << text << ": " << json.error();
    }
}

TEST(Json, DumpOfWhatIsNoUtf8CanBeReadBack) {
    EXPECT_EQ(*parse(dump(Json("a\xff"
                               "b"))),
              Json("a\xef\xbf\xbd"
                   "b"));
}

TEST(Json, BoundedTextsAreCutBetweenCharacters) {
    EXPECT_EQ(bounded("", 0), "");
    EXPECT_EQ(bounded("abc", 3), "abc");
    EXPECT_EQ(bounded("abcd", 3), "abc");
    EXPECT_EQ(bounded("aä", 2), "a");
    EXPECT_EQ(bounded("a😀b", 4), "a");
    EXPECT_EQ(bounded("a😀b", 5), "a😀");
    EXPECT_EQ(bounded("\xff\xff", 5), "\xef\xbf\xbd");
}

TEST(Json, NumbersSurviveTheWay) {
    for (const double number : {0.1, 1e-300, 1.7976931348623157e308, 123456789.123456789, 5e-324}) {
        EXPECT_EQ(parse(dump(Json(number)))->get<double>(), number);
    }
}

TEST(JsonReader, RemembersTheFirstFaultOnly) {
    const Json json = {{"a", "x"}, {"b", 7}};
    JsonReader in(json, "/here");
    EXPECT_EQ(in.integer("a", 0, 9), 0);
    EXPECT_EQ(in.text("b"), "");
    in.boolean("c");
    EXPECT_EQ(in.finish(0).error().pointer, "/here/a");
}

TEST(JsonReader, MissingAndUnknownFieldsAreNamed) {
    const Json json = {{"a", 1}, {"x/y~", 1}};
    JsonReader missing(json);
    missing.text("b");
    EXPECT_EQ(missing.finish(0).error(), invalid("is missing", "/b"));
    JsonReader unknown(json);
    EXPECT_EQ(unknown.integer("a", 0, 1), 1);
    EXPECT_EQ(unknown.finish(0).error(), invalid("is not a field of this message", "/x~1y~0"));
}

TEST(JsonReader, WholeNumbersKeepTheirBounds) {
    const auto read = [](const char* text, std::int64_t min, std::int64_t max) {
        const Json json = {{"n", *parse(text)}};
        JsonReader in(json);
        const std::int64_t value = in.integer("n", min, max);
        return in.finish(value);
    };
    EXPECT_EQ(*read("9223372036854775807", 0, INT64_MAX), INT64_MAX);
    EXPECT_EQ(*read("-9223372036854775808", INT64_MIN, 0), INT64_MIN);
    EXPECT_EQ(*read("3", 3, 3), 3);
    for (const char* text :
         {"9223372036854775808", "18446744073709551615", "1.0", "1e2", "true", "\"1\"", "null", "[1]"})
        EXPECT_FALSE(read(text, INT64_MIN, INT64_MAX)) << text;
    EXPECT_FALSE(read("2", 3, 5));
    EXPECT_FALSE(read("6", 3, 5));
}

TEST(JsonReader, TextsAreLimitedInBytes) {
    const Json json = {{"t", "ää"}, {"nul", std::string("a\0b", 3)}, {"l", {"ab", "cd"}}};
    const auto fault = [&](auto use) {
        JsonReader in(json);
        use(in);
        return in.ok() ? std::string() : in.error().pointer;
    };
    EXPECT_EQ(fault([](JsonReader& in) { in.text("t", 4); }), "");
    EXPECT_EQ(fault([](JsonReader& in) { in.text("t", 3); }), "/t");
    EXPECT_EQ(fault([](JsonReader& in) { in.text("nul"); }), "/nul");
    EXPECT_EQ(fault([](JsonReader& in) { in.texts("l", 2, 4); }), "");
    EXPECT_EQ(fault([](JsonReader& in) { in.texts("l", 1, 4); }), "/l");
    EXPECT_EQ(fault([](JsonReader& in) { in.texts("l", 2, 3); }), "/l");
    EXPECT_EQ(fault([](JsonReader& in) { in.texts("t", 2, 3); }), "/t");
}

}  // namespace
}  // namespace zbs::codec
