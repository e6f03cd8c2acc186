#include "services/zone_scheduler/program/commands/peer_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/failpoint/failpoint.hpp"

namespace zbs::zone_program {
namespace {

using codec::Json;
using testing::HasSubstr;

constexpr std::int64_t kNoon = 1'780'315'200'000'000;  // 2026-06-01 12:00 UTC

TEST(OperatorListings, UsersTellHowTheyStand) {
    const Json answer = {
        {"users",
         {{{"name", "ana"},
           {"standing", "invited"},
           {"code_pending", true},
           {"code_expires_us", kNoon},
           {"certificates", {{{"serial", "1"}}}},
           {"groups", {"physics", "staff"}},
           {"added_us", kNoon}},
          {{"name", "bo"}, {"standing", "active"}, {"code_expires_us", kNoon}, {"groups", Json::array()}}}}};
    EXPECT_EQ(written(users_of(answer), "wide"),
              "NAME  STANDING  CODE UNTIL            CERTIFICATES  GROUPS         ADDED\n"
              "ana   invited   2026-06-01T12:00:00Z  1             physics,staff  2026-06-01T12:00:00Z\n"
              "bo    active    -                     0             -              -\n");
}

TEST(OperatorListings, BlocksOfThisZoneComeBeforeThoseThatOthersTold) {
    const Json answer = {
        {"blocks", {{{"subject", "org-b"}, {"by", "op"}, {"at_us", kNoon}, {"reason", "lost \x1b[2J"}}}},
        {"announced", {{{"subject", "eve"}, {"announced_by", "spiffe://org-a/zone/b"}}}}};
    EXPECT_EQ(written(blocks_of(answer), "table"),
              "SUBJECT  BY  SINCE                 REASON     ANNOUNCED BY\n"
              "org-b    op  2026-06-01T12:00:00Z  lost ?[2J  \n"
              "eve          -                                spiffe://org-a/zone/b\n");
    EXPECT_EQ(written(*chosen(blocks_of(answer), {.filters = {"at_us="}}), "jsonl"),
              "{\"announced_by\":\"spiffe://org-a/zone/b\",\"subject\":\"eve\"}\n");
}

TEST(OperatorListings, FailpointsAreAllThatThereAre) {
    const listing::Listing list = failpoints();
    EXPECT_EQ(list.rows.size(), failpoint::kTable.size());
    EXPECT_THAT(written(list, "json"), HasSubstr("{\"version\":1,\"failpoints\":[{\"error\":\""));
    EXPECT_THAT(written(list, "name"), HasSubstr("home.after_held\n"));
}

}  // namespace
}  // namespace zbs::zone_program
