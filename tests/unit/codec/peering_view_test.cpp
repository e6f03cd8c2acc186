
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/codec/site_codec.hpp"

namespace zbs::codec {
namespace {
using namespace std::chrono_literals;

TEST(PeeringView, HasThePeersAsTheyWereEncoded) {
    Peer peer{.zone = "b", .organisation = "org-b", .url = "https://b:1"};
    peer.outbound = PeeringState::kAccepted;
    peer.last_heard = time_from_microseconds(5);
    peer.condition = PeerCondition{PeerState::kClock, 90s, 300s};
    const PeeringsView view = decode_peerings_view(encode_peer_list({peer}, Json::array(), std::nullopt));
    ASSERT_EQ(view.peers.size(), 1U);
    EXPECT_EQ(view.peers[0].zone, "b");
    EXPECT_EQ(view.peers[0].outbound, "accepted");
    EXPECT_EQ(view.peers[0].inbound, "none");
    EXPECT_EQ(view.peers[0].state, "clock");
    EXPECT_EQ(view.peers[0].age_s, 90.0);
    EXPECT_EQ(view.peers[0].last_heard, time_from_microseconds(5));
    EXPECT_EQ(view.peers[0].item, encode(peer));
}

TEST(PeeringView, HasTheRightsThatAnOperatorIsShown) {
    const Json row = *parse(
        R"({"organisation":"org-b","state":"accepted","requested_us":7,"zones":[{"name":"b","url":"u","seen_us":9}],)"
        R"("trust":{"score":0.75,"initial":0.5,"reasons":[{"event":"hold_kept","count":3,"weight":1.5,"effect":0.25}]},)"
        R"("rights_now":{"processors":8,"concurrent_parts":2,"walltime_s":60.0},"rights":{"floor":{"processors":1}},)"
        R"("usage":{"processors":4,"parts":1},"last_events":[{"at_us":11,"event":"hold_kept"}]})");
    const PeeringsView view = decode_peerings_view({{"peerings", Json::array({row})}, {"notes", {"a", 7}}});
    EXPECT_THAT(view.notes, testing::ElementsAre("a"));
    ASSERT_EQ(view.peerings.size(), 1U);
    const PeeringView& peering = view.peerings[0];
    EXPECT_TRUE(peering.has_rights);
    EXPECT_EQ(peering.score, 0.75);
    EXPECT_EQ(peering.reasons.at(0).count, 3);
    EXPECT_EQ(peering.now.concurrent_parts, 2);
    EXPECT_EQ(peering.floor.processors, 1);
    EXPECT_FALSE(peering.rights);
    EXPECT_EQ(peering.used_processors, 4);
    EXPECT_EQ(peering.last_events.at(0).event, "hold_kept");
    EXPECT_EQ(peering.zones.at(0).seen, time_from_microseconds(9));
    EXPECT_EQ(peering.item, row);
}

TEST(PeeringView, AnyValueIsRead) {
    for (const char* text : {"null", "7", "[]", "{}", R"({"peers":7,"peerings":{},"notes":"x"})"}) {
        EXPECT_TRUE(decode_peerings_view(*parse(text)).peers.empty()) << text;
        EXPECT_TRUE(decode_peerings_view(*parse(text)).peerings.empty()) << text;
    }
    const PeeringsView view = decode_peerings_view(*parse(R"({"peers":[7],"peerings":[{"zones":["b"],"state":7}]})"));
    EXPECT_EQ(view.peers.at(0).zone, "");
    EXPECT_FALSE(view.peers.at(0).age_s);
    EXPECT_EQ(view.peerings.at(0).state, "");
    EXPECT_FALSE(view.peerings.at(0).has_rights);
}

TEST(SiteViews, HaveUsersAndBlocksAsTheyWereEncoded) {
    const Member ana{.name = "ana", .groups = {"x", "y"}, .code_expires = time_from_microseconds(4)};
    const std::vector<UserView> users = decode_users(encode_users({{ana, "invited", true}}));
    ASSERT_EQ(users.size(), 1U);
    EXPECT_EQ(users[0].name, "ana");
    EXPECT_TRUE(users[0].code_pending);
    EXPECT_EQ(users[0].code_expires, time_from_microseconds(4));
    EXPECT_EQ(users[0].certificates, 0U);
    EXPECT_THAT(users[0].groups, testing::ElementsAre("x", "y"));
    const Block block{"org-b", "spam", "spiffe://o/operator/x", time_from_microseconds(7)};
    const std::vector<BlockView> blocks = decode_blocks(encode_blocks({block}, {{"org-c", "spiffe://o/zone/z"}}));
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].by, "spiffe://o/operator/x");
    EXPECT_EQ(blocks[0].at, time_from_microseconds(7));
    EXPECT_EQ(blocks[1].announced_by, "spiffe://o/zone/z");
    EXPECT_FALSE(decode_block_view(encode_created(block, false)).known);
    EXPECT_TRUE(decode_block_view(encode(block)).known);
    EXPECT_THAT(decode_announcers(encode_unblocked("org-b", {"z"})), testing::ElementsAre("z"));
    for (const char* text : {"null", "[]", R"({"users":7,"blocks":{},"announced_by":7})"}) {
        EXPECT_TRUE(decode_users(*parse(text)).empty()) << text;
        EXPECT_TRUE(decode_blocks(*parse(text)).empty()) << text;
        EXPECT_TRUE(decode_announcers(*parse(text)).empty()) << text;
    }
}

TEST(SiteViews, RequestsOfOperatorsGoThereAndBack) {
    const Result<NewUser> user = decode_new_user(encode(NewUser{"ana", {"x"}}));
    ASSERT_TRUE(user);
    EXPECT_EQ(user->name, "ana");
    EXPECT_THAT(user->groups, testing::ElementsAre("x"));
    const Result<NewBlock> block = decode_new_block(encode(NewBlock{"org-b", "spam"}));
    ASSERT_TRUE(block);
    EXPECT_EQ(block->subject, "org-b");
    EXPECT_EQ(block->reason, "spam");
}

}  // namespace
}  // namespace zbs::codec
