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
    DecisionLog decisions{clock, audit, log};
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

TEST_F(DecisionLogTest, WhatCannotBeRecordedIsRefused) {
    audit.fault = Error{ErrorCode::kInternal, "disk full", {}};
    const Result<void> allowed = decisions.allow(Action::kCreateUser, call("POST"));
    ASSERT_FALSE(allowed);
    EXPECT_EQ(allowed.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(allowed.error().message.find("disk"), std::string::npos) << "causes go to the log";
    EXPECT_TRUE(decisions.allow(Action::kListUsers, call("GET")));
}

TEST_F(DecisionLogTest, FiftyRefusalsASecondAreRecordedAndTheRestCounted) {
    decisions.start();
    for (int i = 0; i < 120; ++i) decisions.refuse(Action::kListUsers, call("GET"), "denied", "not yours");
    EXPECT_EQ(recorded(), 50U);
    EXPECT_EQ(log.count("refusals_not_recorded"), 0);
    clock.advance(seconds{2});
    ASSERT_EQ(log.count("refusals_not_recorded"), 1) << "told although nothing is refused any more";
    EXPECT_EQ(log.lines.back().fields.at(0).second, "70");
    decisions.refuse(Action::kListUsers, call("GET"), "denied", "not yours");
    EXPECT_EQ(recorded(), 51U);
    clock.advance(seconds{2});
    EXPECT_EQ(log.count("refusals_not_recorded"), 1);
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
    decisions.start();
    decisions.refuse(Action::kListUsers, call("GET"), "denied", "no");
    clock.advance(std::chrono::milliseconds{50});
    EXPECT_EQ(audit.durable().size(), 1U);
}

}  // namespace
}  // namespace zbs::http
