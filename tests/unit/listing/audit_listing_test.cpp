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
    const Listing listing = audit_listing(page(), items);
    EXPECT_EQ(written(listing, "table"),
              "NUMBER  TIME                  WHO                          ACTION        OBJECT  DECISION  DETAIL\n"
              "7       2026-06-01T12:00:00Z  spiffe://org-a/operator/ana  blockSubject  org-b   allowed   lost ?[2J\n");
    EXPECT_EQ(
        written(*chosen(listing, {.columns = {"number", "at_us", "request_id"}, .filters = {"at_us>1e15"}}), "csv"),
        "NUMBER,at_us,request_id\n7,1780315200000000,R\n");
}

}  // namespace
}  // namespace zbs::listing
