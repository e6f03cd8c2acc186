#include "services/common/codec/service_codec.hpp"

#include <gtest/gtest.h>

#include "services/common/codec/node_codec.hpp"
#include "services/common/codec/records/audit_codec.hpp"

namespace zbs::codec {
namespace {

TEST(HealthCodec, GoesThereAndBack) {
    EXPECT_EQ(dump(encode(Health{})), R"({"status":"ok"})");
    const Health waiting{std::string(Health::kStandby), "the folder is another one"};
    EXPECT_EQ(dump(encode(waiting)), R"({"reason":"the folder is another one","status":"standby"})");
    EXPECT_EQ(decode_health(encode(waiting)), waiting);
}

TEST(HealthCodec, AnyValueIsRead) {
    for (const char* text : {"7", "[]", "null", R"({"status":7})", R"({"reason":[]})"})
        EXPECT_EQ(decode_health(*parse(text)), (Health{"", ""})) << text;
    EXPECT_EQ(decode_health(*parse(R"({"status":"ok","later":1})")), Health{});
}

TEST(ProblemCodec, GoesThereAndBack) {
    const Problem field{400, "invalid_argument", "at /a: is missing", "/a", "is missing"};
    EXPECT_EQ(dump(encode(field)), R"({"code":"invalid_argument","detail":"at /a: is missing",)"
                                   R"("errors":[{"detail":"is missing","pointer":"/a"}],"status":400,)"
                                   R"("title":"invalid_argument","type":"urn:zbs:problem:invalid_argument"})");
    EXPECT_EQ(decode_problem(encode(field)), field);
    const Problem whole{409, "conflict", "no"};
    EXPECT_FALSE(encode(whole).contains("errors"));
    EXPECT_EQ(decode_problem(encode(whole)), whole);
}

TEST(ProblemCodec, AnyValueIsRead) {
    for (const char* text : {"7", "[]", R"({"errors":7})", R"({"errors":[]})", R"({"errors":[7]})",
                             R"({"errors":[{"pointer":7}],"status":"x","code":[],"detail":{}})"})
        EXPECT_EQ(decode_problem(*parse(text)), Problem{}) << text;
}

TEST(WhoAmICodec, WritesWhoCalls) {
    const WhoAmI ana{"spiffe://org-a/user/ana", true, false, "0a1b"};
    const WhoAmIInZone zone{ana, {"physics", "staff"}, "spiffe://org-a/zone/a"};
    EXPECT_EQ(dump(encode(zone)),
              R"({"groups":["physics","staff"],"limited":false,"name":"spiffe://org-a/user/ana","serial":"0a1b",)"
              R"("via_proxy":true,"zone":"spiffe://org-a/zone/a"})");
    const WhoAmIInRegistry registry{ana, true, "spiffe://org-r/registry/r"};
    EXPECT_EQ(dump(encode(registry)), R"({"enrolled":true,"limited":false,"name":"spiffe://org-a/user/ana",)"
                                      R"("registry":"spiffe://org-r/registry/r","serial":"0a1b","via_proxy":true})");
}

TEST(NodeCodec, NumberGoesThereAndBack) {
    EXPECT_EQ(dump(encode_number(7)), R"({"number":7})");
    EXPECT_EQ(*decode_number(encode_number(7)), 7U);
    EXPECT_EQ(decode_number(*parse(R"({"number":-1})")).error().pointer, "/number");
}

TEST(AuditCodec, KeepsTheObjectOfACallAndNoSecret) {
    EXPECT_EQ(audited_fields(*parse(R"({"reason":"closed","zone":"b","code":"secret","user":7})")),
              "zone b, reason closed");
    for (const char* text : {"7", "[]", "{}"}) EXPECT_EQ(audited_fields(*parse(text)), "") << text;
}

}  // namespace
}  // namespace zbs::codec
