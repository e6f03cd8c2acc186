#include "services/registry/http/operator_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::codec {
namespace {
using namespace std::chrono_literals;

TEST(OperatorCodec, EnrolmentsGoThereAndBack) {
    const Registry::Enrolment alone{{CallerKind::kZone, "org-a", "a"}, "https://a:1", true};
    const Registry::Enrolment claimed{{CallerKind::kZone, "org-b", "b"},
                                      "https://b:1",
                                      false,
                                      RivalClaim{"spiffe://org-b/zone/b", "https://c:1", 2s}};
    const Json json = encode_enrolments({alone, claimed}, {{"org-a", "sha256:aa", 1}});
    EXPECT_EQ(dump(json), R"({"organisations":[{"fingerprint":"sha256:aa","organisation":"org-a","zones":1}],"zones":[)"
                          R"({"live":true,"organisation":"org-a","url":"https://a:1","zone":"a"},)"
                          R"({"live":false,"organisation":"org-b","rival":{"age_s":2.0,"url":"https://c:1",)"
                          R"("zone":"spiffe://org-b/zone/b"},"url":"https://b:1","zone":"b"}]})");
    const EnrolmentsView view = decode_enrolments(json);
    ASSERT_EQ(view.zones.size(), 2U);
    EXPECT_EQ(view.zones[0].zone, "a");
    EXPECT_TRUE(view.zones[0].live);
    EXPECT_EQ(view.zones[0].rival_url, "");
    EXPECT_EQ(view.zones[1].organisation, "org-b");
    EXPECT_EQ(view.zones[1].rival_url, "https://c:1");
    EXPECT_EQ(view.zones[1].item, json["zones"][1]);
    ASSERT_EQ(view.organisations.size(), 1U);
    EXPECT_EQ(view.organisations[0].fingerprint, "sha256:aa");
    EXPECT_EQ(view.organisations[0].zones, 1);
}

TEST(OperatorCodec, OtherMessagesGoThereAndBack) {
    EXPECT_EQ(dump(encode_removed_zones({"a", "b"})), R"({"zones":["a","b"]})");
    EXPECT_THAT(decode_removed_zones(encode_removed_zones({"a", "b"})), testing::ElementsAre("a", "b"));
    const Json token = encode(Registry::Invitation{"zbs-1", time_from_microseconds(5)});
    EXPECT_EQ(dump(token), R"({"expires_us":5,"token":"zbs-1"})");
    EXPECT_EQ(decode_token(token), "zbs-1");
}

TEST(OperatorCodec, ReadersAcceptTheAnswerOfAnotherRelease) {
    for (const char* text : {"7", "{}", R"({"zones":7,"organisations":{}})"}) {
        EXPECT_TRUE(decode_enrolments(*parse(text)).zones.empty()) << text;
        EXPECT_TRUE(decode_removed_zones(*parse(text)).empty()) << text;
        EXPECT_EQ(decode_token(*parse(text)), "") << text;
    }
    const EnrolmentsView view = decode_enrolments(*parse(R"({"zones":[{"zone":7,"live":"yes","rival":[],"new":1}]})"));
    ASSERT_EQ(view.zones.size(), 1U);
    EXPECT_EQ(view.zones[0].zone, "");
    EXPECT_FALSE(view.zones[0].live);
    const ZoneEntryView entry = decode_zone_entry_view(*parse(R"({"name":"a","url":"https://a:1","contact":7})"));
    EXPECT_EQ(entry.name, "a");
    EXPECT_EQ(entry.url, "https://a:1");
    EXPECT_EQ(entry.contact, "");
}

}  // namespace
}  // namespace zbs::codec
