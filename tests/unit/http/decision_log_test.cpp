#include "services/common/http/decision_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_audit_log.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::http {
namespace {
using namespace zbs::test;
using std::chrono::seconds;

class DecisionLogTest : public testing::Test {
  protected:
    static Call call(const std::string& method, const std::string& path = "/v1/users") {
        Call made;
        made.method = method;
        made.path = path;
        made.request_id = "call-7";
        made.peer = PeerIdentity({CallerKind::kOperator, "org-a", "oscar"}, Evidence::kCertificate);
        return made;
    }
    std::size_t recorded() { return audit.read(1, 1000)->size(); }

    VirtualClock clock;
    MemoryAuditLog audit;
    SilentLog log;
    DecisionLog decisions{clock, audit, log, "spiffe://org-a/zone/alpha"};
    void refuse(const PeerIdentity& peer, const std::string& address, int times) {
        Call refused = call("GET");
        refused.peer = peer;
        refused.address = address;
        for (int i = 0; i < times; ++i) decisions.refuse(Action::kListUsers, refused, "denied", "not yours");
    }
    static PeerIdentity user_of(const OrganisationName& organisation, const std::string& name = "eve") {
        return {{CallerKind::kUser, organisation, name}, Evidence::kCertificate};
    }
    std::size_t recorded_of(const std::string& text) {
        std::size_t count = 0;
        const std::vector<AuditRecord> records = *audit.read(1, 1000);
        for (const AuditRecord& record : records)
            count += (record.entry.who + " " + record.entry.detail).find(text) != std::string::npos;
        return count;
    }
};

TEST_F(DecisionLogTest, WhatChangesSomethingIsDurableBeforeItIsDone) {
    ASSERT_TRUE(decisions.allow(Action::kCreateUser, call("POST")));
    ASSERT_EQ(audit.durable().size(), 1U);
    EXPECT_EQ(audit.durable()[0].entry, (AuditEntry{clock.now(), "spiffe://org-a/operator/oscar", "createUser",
                                                    "/v1/users", "allow", "call-7", ""}));
    ASSERT_TRUE(decisions.allow(Action::kListUsers, call("GET")));
    EXPECT_EQ(recorded(), 1U) << "looking changes nothing";
}

TEST_F(DecisionLogTest, WhomAndWhatItIsAboutIsOnRecordAndNoSecret) {
    Call accept = call("PUT");
    accept.address = "192.0.2.7";
    accept.body =
        R"({"action":"accept","fingerprint":"sha256:12","reason":"joint project","code":"secret","rights":{}})";
    ASSERT_TRUE(decisions.allow(Action::kChangePeering, accept));
    EXPECT_EQ(audit.durable().back().entry.detail,
              "from 192.0.2.7; action accept, fingerprint sha256:12, reason joint project");
    accept.body = "{not JSON";
    decisions.refuse(Action::kChangePeering, accept, "denied", "not yours");
    EXPECT_TRUE(decisions.allow(Action::kChangePeering, accept));
    EXPECT_EQ(audit.durable().back().entry.detail, "from 192.0.2.7");
}

TEST_F(DecisionLogTest, WhatACallBelongsToIsOnRecord) {
    Call accept = call("PUT");
    accept.address = "192.0.2.7";
    accept.trace.id = std::string(32, 'a');
    ASSERT_TRUE(decisions.allow(Action::kChangePeering, accept));
    EXPECT_EQ(audit.durable().back().entry.detail, "from 192.0.2.7; trace " + std::string(32, 'a'));
}

TEST_F(DecisionLogTest, WhatCannotBeRecordedIsRefused) {
    audit.fault = Error{ErrorCode::kInternal, "disk full", {}};
    const Result<void> allowed = decisions.allow(Action::kCreateUser, call("POST"));
    ASSERT_FALSE(allowed);
    EXPECT_EQ(allowed.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(allowed.error().message.find("disk"), std::string::npos) << "causes go to the log";
    EXPECT_TRUE(decisions.allow(Action::kListUsers, call("GET")));
}

TEST_F(DecisionLogTest, ANoisyOrganisationHidesNoOther) {
    refuse(user_of("org-x"), "192.0.2.1", 500);
    refuse(user_of("org-x", "another"), "192.0.2.2", 500);
    refuse(user_of("org-b"), "192.0.2.1", 3);
    refuse({}, "192.0.2.1", 2);
    EXPECT_EQ(recorded_of("spiffe://org-x/"), static_cast<std::size_t>(DecisionLog::kPerOrganisation));
    EXPECT_EQ(recorded_of("spiffe://org-b/"), 3U);
    EXPECT_EQ(recorded_of("anonymous"), 2U);
}

TEST_F(DecisionLogTest, ANoisyAddressHidesNoOtherAndNoOrganisation) {
    refuse({}, "192.0.2.1", 500);
    refuse({}, "192.0.2.2", 3);
    EXPECT_EQ(recorded_of("from 192.0.2.1"), static_cast<std::size_t>(DecisionLog::kPerAddress));
    EXPECT_EQ(recorded_of("from 192.0.2.2"), 3U);
    for (int i = 0; i < 1'000; ++i) refuse({}, "198.51.100." + std::to_string(i), 1);
    EXPECT_EQ(recorded_of("anonymous"), static_cast<std::size_t>(DecisionLog::kAllAddresses));
    refuse(user_of("org-b"), "192.0.2.1", 1);
    EXPECT_EQ(recorded_of("spiffe://org-b/"), 1U);
}

TEST_F(DecisionLogTest, OneEntrySaysHowManyAreNotOnRecordAndOfWhom) {
    refuse(user_of("org-x"), "192.0.2.1", DecisionLog::kPerOrganisation + 70);
    refuse({}, "192.0.2.9", DecisionLog::kPerAddress + 5);
    const std::size_t before = recorded();
    clock.advance(seconds{2});
    ASSERT_EQ(recorded(), before + 1) << "recorded although nothing is refused any more";
    const AuditEntry entry = audit.durable().back().entry;
    EXPECT_EQ(entry.who, "spiffe://org-a/zone/alpha");
    EXPECT_EQ(entry.action + " " + entry.decision, "countRefusals not_recorded");
    EXPECT_EQ(entry.detail,
              "75 refusals of one second are not on record: 70 of organisation org-x, 5 of address 192.0.2.9");
    EXPECT_EQ(log.count("refusals_not_recorded"), 1);
    refuse(user_of("org-x"), "192.0.2.1", 1);
    clock.advance(seconds{2});
    EXPECT_EQ(recorded(), before + 2) << "each second has its own share, and nothing was left out of this one";
}

TEST_F(DecisionLogTest, TheSummaryNamesFewAndFitsAnEntry) {
    for (int i = 0; i < 2'000; ++i) refuse({}, "2001:db8::" + std::to_string(i), 1);
    clock.advance(seconds{2});
    const std::string detail = audit.durable().back().entry.detail;
    EXPECT_THAT(detail, testing::HasSubstr("of address others"));
    EXPECT_THAT(detail, testing::EndsWith(" more"));
    EXPECT_THAT(detail, testing::StartsWith("1950 refusals"));
}

TEST_F(DecisionLogTest, AChangeThatFailedIsOnRecordWithItsStatus) {
    decisions.done(Action::kCreateUser, call("POST"), 409);
    decisions.done(Action::kCreateUser, call("POST"), 201);
    decisions.done(Action::kListUsers, call("GET"), 500);
    ASSERT_EQ(recorded(), 1U);
    EXPECT_EQ(audit.durable()[0].entry.decision, "failed");
    EXPECT_EQ(audit.durable()[0].entry.detail, "status 409");
}

TEST_F(DecisionLogTest, RefusalsAreWrittenDownSoonWithoutFurtherCalls) {
    decisions.refuse(Action::kListUsers, call("GET"), "denied", "no");
    clock.advance(std::chrono::milliseconds{50});
    EXPECT_EQ(audit.durable().size(), 1U);
}

}  // namespace
}  // namespace zbs::http
