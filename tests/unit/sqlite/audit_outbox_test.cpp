#include "services/common/adapters/sql/audit_chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_folder.hpp"

// One commit for a decision's record and for what it allows: what a crash at each moment leaves.

namespace zbs::sqlite {
namespace {
using namespace zbs::test;
using testing::ElementsAre;

constexpr const char* kZone = "spiffe://alpha/zone/one";

struct Opened {
    ZoneDatabase zone;
    std::unique_ptr<AuditLog> audit;
};

Opened open_in(const TemporaryFolder& folder) {
    auto zone = open_zone_database(folder.path("zone.db"), Durability::kBatches);
    EXPECT_TRUE(zone) << zone.error();
    Opened opened{*std::move(zone), nullptr};
    auto audit = open_audit_log(folder.path("audit.db"), {kZone, {}}, opened.zone.outbox.get());
    EXPECT_TRUE(audit) << audit.error();
    opened.audit = *std::move(audit);
    return opened;
}

class AuditOutboxTest : public testing::Test {
  protected:
    void allow(const std::string& who) {
        ASSERT_TRUE(now.audit->append({.who = who, .action = "scheduleApplication"}, AuditUrgency::kWithWrites));
    }
    /// The actions' callers, as a start finds the log after the power went now.
    std::vector<std::string> after_power_cut(bool without_log = false) {
        const TemporaryFolder crashed;
        for (const auto& file : std::filesystem::directory_iterator(folder.path(""))) {
            const std::string name = file.path().filename().string();
            if (!name.ends_with("-shm") && !(without_log && name.starts_with("audit")))
                std::filesystem::copy(file.path(), crashed.path(name));
        }
        std::vector<std::string> callers;
        for (int start = 0; start < 2; ++start) {  // the second finds it done
            const Opened again = open_in(crashed);
            callers.clear();
            const auto rows = again.audit->read(1, 100);
            for (const AuditRecord& row : *rows) callers.push_back(row.entry.who);
            EXPECT_TRUE(again.zone.journal->commit());
        }
        const auto verified = verify_audit_log(crashed.path("audit.db"));
        EXPECT_TRUE(verified) << verified.error();
        return callers;
    }
    TemporaryFolder folder;
    Opened now = open_in(folder);
};

TEST_F(AuditOutboxTest, ARecordIsDurableWithTheCommitBeforeTheLogHasIt) {
    allow("ana");
    EXPECT_THAT(after_power_cut(), ElementsAre(kZone)) << "neither the record nor what it allows";
    ASSERT_TRUE(now.zone.journal->commit());
    EXPECT_EQ(verify_audit_log(folder.path("audit.db"))->head.entries, 1U);
    EXPECT_THAT(after_power_cut(), ElementsAre(kZone, "ana"));
}

TEST_F(AuditOutboxTest, WhatTheLogHasAlreadyIsNotTakenTwice) {
    allow("ana");
    ASSERT_TRUE(now.zone.journal->commit());
    ASSERT_TRUE(now.audit->flush());
    EXPECT_EQ(now.audit->head().entries, 2U);
    EXPECT_THAT(after_power_cut(), ElementsAre(kZone, "ana")) << "the outbox has it still: forgetting is not committed";
    ASSERT_TRUE(now.zone.journal->commit());
    EXPECT_TRUE(now.zone.outbox->load()->empty());
    EXPECT_THAT(after_power_cut(), ElementsAre(kZone, "ana"));
}

TEST_F(AuditOutboxTest, WhatWasKeptBackBeforeItComesAlongAndTheChainHasNoGap) {
    ASSERT_TRUE(now.audit->append({.who = "eve", .decision = "denied"}, AuditUrgency::kSoon));
    allow("ana");
    ASSERT_TRUE(now.audit->append({.who = "eve", .decision = "denied"}, AuditUrgency::kSoon));
    ASSERT_TRUE(now.zone.journal->commit());
    EXPECT_THAT(after_power_cut(), ElementsAre(kZone, "eve", "ana"));
}

TEST_F(AuditOutboxTest, WhatCannotWaitIsWrittenAtOnceWithAllBeforeIt) {
    allow("ana");
    ASSERT_TRUE(now.audit->append({.who = "bob", .action = "reloadSettings"}, AuditUrgency::kNow));
    EXPECT_EQ(verify_audit_log(folder.path("audit.db"))->head.entries, 3U);
    EXPECT_THAT(after_power_cut(), ElementsAre(kZone, "ana", "bob"));
}

TEST_F(AuditOutboxTest, ALogThatWasMovedAwayGetsWhatWaitsBehindItsBeginning) {
    allow("ana");
    ASSERT_TRUE(now.zone.journal->commit());
    ASSERT_TRUE(now.audit->flush());
    ASSERT_TRUE(now.zone.journal->commit());
    for (const char* who : {"bob", "cleo"}) allow(who);
    ASSERT_TRUE(now.zone.journal->commit());
    EXPECT_THAT(after_power_cut(/*without_log=*/true), ElementsAre(kZone, "bob", "cleo"));
}

TEST_F(AuditOutboxTest, TheHeadIsNotedAsSoonAsTheLogHasIt) {
    EXPECT_EQ(*now.zone.outbox->noted(), std::nullopt);
    for (const AuditUrgency urgency : {AuditUrgency::kNow, AuditUrgency::kSoon, AuditUrgency::kWithWrites}) {
        ASSERT_TRUE(now.audit->append({.who = "bob", .action = "reloadSettings"}, urgency));
        ASSERT_TRUE(now.audit->flush());
        EXPECT_EQ(*now.zone.outbox->noted(), now.audit->head());
    }
}

TEST_F(AuditOutboxTest, ReadingShowsWhatWaits) {
    allow("ana");
    EXPECT_EQ(now.audit->read(2, 10)->at(0).entry.who, "ana");
}

}  // namespace
}  // namespace zbs::sqlite
