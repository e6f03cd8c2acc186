#include "services/common/listing/audit_listing.hpp"

#include <gtest/gtest.h>

namespace zbs::listing {
namespace {

codec::AuditPage page() {
    codec::AuditPage made;
    made.records.push_back({.number = 7,
                            .entry = {.at = time_from_microseconds(1'780'315'200'000'000),
                                      .who = "spiffe://org-a/operator/ana",
                                      .action = "blockSubject",
                                      .object = "org-b",
                                      .decision = "allowed",
                                      .request_id = "R",
                                      .detail = "lost \x1b[2J"},
                            .hash = "ab"});
    return made;
}

TEST(AuditListing, HasARowForEachEntryAndItsInstantAsANumberForPrograms) {
    const codec::Json items = codec::Json::array({codec::encode(page().records[0])});
    const Listing listing = audit_listing(page());
    EXPECT_EQ(listing.items, items);
    EXPECT_EQ(written(listing, "table"),
              "NUMBER  TIME                  WHO                          ACTION        OBJECT  DECISION  DETAIL\n"
              "7       2026-06-01T12:00:00Z  spiffe://org-a/operator/ana  blockSubject  org-b   allowed   lost ?[2J\n");
    EXPECT_EQ(
        written(*chosen(listing, {.columns = {"number", "at_us", "request_id"}, .filters = {"at_us>1e15"}}), "csv"),
        "NUMBER,at_us,request_id\n7,1780315200000000,R\n");
}

TEST(AuditListing, TheLastEntryBeforeAnInstantIsFoundInLogsOfEveryLength) {
    for (std::uint64_t length = 0; length <= 33; ++length) {
        for (std::int64_t since = -1; since <= 70; ++since) {
            SCOPED_TRACE(std::to_string(length) + " entries, since " + std::to_string(since));
            int asked = 0;  // entry n is at 2 n
            const auto ask = [&](std::uint64_t after) -> Result<codec::AuditPage> {
                ++asked;
                codec::AuditPage found;
                found.head.entries = length;
                if (after < length)
                    found.records.push_back(
                        {.number = after + 1,
                         .entry = {.at = time_from_microseconds(2 * static_cast<std::int64_t>(after + 1))}});
                return found;
            };
            const auto before = last_entry_before(time_from_microseconds(since), ask);
            ASSERT_TRUE(before);
            const std::int64_t earlier = since <= 0 ? 0 : (since - 1) / 2;
            EXPECT_EQ(*before, std::min<std::uint64_t>(static_cast<std::uint64_t>(earlier), length));
            EXPECT_LE(asked, 7);
        }
    }
    const auto refuse = [](std::uint64_t) -> Result<codec::AuditPage> { return invalid("no"); };
    EXPECT_FALSE(last_entry_before(Time{}, refuse));
}

}  // namespace
}  // namespace zbs::listing
