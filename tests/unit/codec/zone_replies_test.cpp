#include <gtest/gtest.h>

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/codec/site_codec.hpp"

namespace zbs::codec {
namespace {
using namespace std::chrono_literals;

TEST(RegistryStandingCodec, GoesThereAndBackInBothAnswers) {
    const RegistryStanding usual{"https://r:1", true, "", {}};
    EXPECT_EQ(dump(encode_ready(usual)),
              R"({"registry":{"enrolled":true,"reason":"","url":"https://r:1"},"status":"ok"})");
    const RegistryStanding claimed{"https://r:1", false, "no", -90s,
                                   RivalClaim{"spiffe://o/zone/z", "https://z:1", 2s}};
    EXPECT_EQ(decode_registry_standing(encode_ready(claimed)), claimed);
    EXPECT_EQ(decode_registry_standing(encode_peer_list({}, Json::array(), claimed)), claimed);
    EXPECT_EQ(dump(encode_ready(std::nullopt)), R"({"status":"ok"})");
    EXPECT_EQ(dump(encode_peer_list({}, Json::array(), std::nullopt)), R"({"peerings":[],"peers":[]})");
}

TEST(RegistryStandingCodec, AnyValueIsRead) {
    for (const char* text : {"null", "7", "[]", "{}"}) EXPECT_FALSE(decode_registry_standing(*parse(text))) << text;
    for (const char* text : {R"({"registry":7})", R"({"registry":{"url":7,"enrolled":"yes","clock_ahead_s":[]}})"})
        EXPECT_EQ(decode_registry_standing(*parse(text)), RegistryStanding{}) << text;
    EXPECT_TRUE(decode_registry_standing(*parse(R"({"registry":{"clock_ahead_s":1e300}})")));
}

TEST(ApplicationPageCodec, GoesThereAndBack) {
    EXPECT_EQ(dump(encode(ApplicationPage{})), R"({"applications":[]})");
    ApplicationSummary row;
    row.owner = {CallerKind::kUser, "org-a", "ana"};
    row.ranks = 4;
    row.program = "solver";
    const Json json = encode(ApplicationPage{{row}, "0-1"});
    const Result<ApplicationPage> page = decode_application_page(json);
    ASSERT_TRUE(page) << page.error();
    EXPECT_EQ(page->next, "0-1");
    EXPECT_EQ(json, encode(*page));
    Json bad = json;
    bad["applications"][0]["ranks"] = 0;
    EXPECT_EQ(decode_application_page(bad).error().pointer, "/applications/0/ranks");
}

TEST(SiteCodec, UsersAndBlocksAreThoseOfTheContract) {
    EXPECT_EQ(dump(encode_users({{Member{.name = "ana"}, "invited", true}})),
              R"({"users":[{"added_us":0,"certificates":[],"code_expires_us":0,"code_pending":true,"groups":[],)"
              R"("name":"ana","revoked":false,"standing":"invited"}]})");
    const InvitedUser ana{"ana", "zbs-1", time_from_microseconds(5)};
    EXPECT_EQ(dump(encode(ana)), R"({"expires_us":5,"name":"ana","token":"zbs-1"})");
    EXPECT_EQ(decode_invitation(encode(ana)), "zbs-1");
    const Block block{"org-b", "spam", "spiffe://o/operator/x", time_from_microseconds(7)};
    EXPECT_EQ(dump(encode_created(block, true)),
              R"({"at_us":7,"by":"spiffe://o/operator/x","known":true,"reason":"spam","subject":"org-b"})");
    EXPECT_EQ(dump(encode_blocks({block}, {{"org-c", "spiffe://o/zone/z"}})),
              R"({"announced":[{"announced_by":"spiffe://o/zone/z","subject":"org-c"}],"blocks":[{"at_us":7,)"
              R"("by":"spiffe://o/operator/x","reason":"spam","subject":"org-b"}]})");
    EXPECT_EQ(dump(encode_unblocked("org-b", {})), R"({"announced_by":[],"subject":"org-b"})");
}

TEST(SiteCodec, SmallMessagesGoThereAndBack) {
    EXPECT_EQ(dump(encode_drain(true)), R"({"draining":true})");
    EXPECT_TRUE(*decode_drain(encode_drain(true)));
    const Result<NewToken> token = decode_new_token(encode(NewToken{"org-a", 48h}));
    ASSERT_TRUE(token) << token.error();
    EXPECT_EQ(token->organisation, "org-a");
    EXPECT_EQ(token->lifetime, Duration{48h});
    EXPECT_EQ(decode_new_token(encode(NewToken{}))->organisation, "");
}

}  // namespace
}  // namespace zbs::codec
