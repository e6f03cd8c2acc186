
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/registry_store.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::sqlite {
namespace {
using namespace zbs::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

constexpr Time kNoon{std::chrono::seconds{1'700'000'000}};
constexpr Time kEvening = kNoon + std::chrono::hours{6};

/// In these tests an entry of the log is "zone NAME" or "organisation NAME" where it allowed a removal.
std::optional<RemovedFromRegistry> removal_in(const AuditEntry& entry) {
    if (entry.action == "zone") return RemovedFromRegistry{ZoneName(entry.object), {}};
    if (entry.action == "organisation") return RemovedFromRegistry{{}, OrganisationName(entry.object)};
    return std::nullopt;
}

class RegistryBackup : public testing::Test {
  protected:
    RegistryBackup() {
        open();
        for (const char* name : {"one", "two"}) EXPECT_TRUE(registry->zones().save(some_enrolled_zone(ZoneName(name))));
        EnrolledZone other = some_enrolled_zone("three");
        other.organisation = "gamma";
        EXPECT_TRUE(registry->zones().save(other));
        for (const char* name : {"beta", "gamma"})
            EXPECT_TRUE(registry->organisations().save(some_trusted_organisation(OrganisationName(name))));
        EnrolmentRight unused = some_enrolment_right("cd");
        unused.used_by.clear();
        for (const EnrolmentRight& right : {some_enrolment_right("ab"), unused})
            EXPECT_TRUE(registry->rights().save(right));
    }
    void open() {
        auto store = open_registry_store(files.database);
        auto log = open_audit_log(files.audit, {files.who, kNoon});
        ASSERT_TRUE(store && log);
        registry = *std::move(store);
        audit = *std::move(log);
    }
    void close() {
        registry.reset();
        audit.reset();
    }
    /// On record only: what the registry's own database had is put aside with a restore.
    void remove(const std::string& kind, const std::string& name) {
        ASSERT_TRUE(audit->append({.at = kNoon, .who = "olga", .action = kind, .object = name}, AuditUrgency::kNow));
    }
    Result<RestoredRegistry> restore(Time now = kEvening) {
        close();
        auto done = restore_registry(backup, files, now, removal_in);
        if (done) open();
        return done;
    }
    std::vector<std::string> zones() {
        std::vector<std::string> names;
        const auto all = registry->zones().load();
        for (const EnrolledZone& zone : *all) names.push_back(zone.name);
        return names;
    }

    TemporaryFolder folder;
    ServiceFiles files{folder.path("registry.db"), folder.path("audit.db"), "spiffe://grid/registry/main"};
    std::string backup = folder.path("backup.db");
    std::unique_ptr<RegistryStore> registry;
    std::unique_ptr<AuditLog> audit;
};

TEST_F(RegistryBackup, ARunningRegistryIsBackedUpAsItStandsAndGoesOn) {
    const auto made = write_backup(registry_backups(), files, backup, kNoon);
    ASSERT_TRUE(made) << made.error();
    EXPECT_THAT(to_string(*made), HasSubstr("3 zones, 2 organisations, 1 open tokens, audit log up to 1:"));
    ASSERT_TRUE(registry->zones().save(some_enrolled_zone("later")));
    EXPECT_THAT(to_string(*check_backup(registry_backups(), backup, files.who)), HasSubstr("3 zones, "));
    ASSERT_TRUE(restore());
    EXPECT_THAT(zones(), ElementsAre("one", "three", "two")) << "what came later is not in it";
    EXPECT_EQ(registry->organisations().load()->size(), 2U);
}

TEST_F(RegistryBackup, NoEntryOfTheBackupIsShownButEveryZoneMayPublishItsOwn) {
    ASSERT_TRUE(write_backup(registry_backups(), files, backup, kNoon));
    ASSERT_TRUE(restore());
    const auto all = registry->zones().load();
    ASSERT_TRUE(all) << all.error();
    for (const EnrolledZone& zone : *all) {
        EXPECT_EQ(zone.lease, Duration{}) << zone.name;
        EXPECT_EQ(zone.entry, some_signed_text()) << "an older entry than this never replaces it";
    }
}

TEST_F(RegistryBackup, NoTokenWorksAfterARestoreBecauseItMayHaveBeenUsed) {
    ASSERT_TRUE(write_backup(registry_backups(), files, backup, kNoon));
    const auto restored = restore();
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_EQ(restored->tokens, 1U);
    EXPECT_THAT(*registry->rights().load(), IsEmpty());
}

TEST_F(RegistryBackup, WhatWasRemovedSinceStaysRemovedHoweverOftenTheSameBackupIsRestored) {
    remove("zone", "two");  // before the backup, and enrolled again by then
    ASSERT_TRUE(write_backup(registry_backups(), files, backup, kNoon));
    remove("zone", "one");
    remove("zone", "nowhere");
    remove("organisation", "gamma");
    for (int round = 1; round <= 2; ++round) {
        const auto restored = restore(kEvening + std::chrono::seconds{round});
        ASSERT_TRUE(restored) << restored.error();
        EXPECT_TRUE(restored->files.kept_audit);
        EXPECT_THAT(restored->removed, ElementsAre(RemovedFromRegistry{"one", {}}, RemovedFromRegistry{{}, "gamma"}));
        EXPECT_THAT(zones(), ElementsAre("two"));
        EXPECT_EQ(registry->organisations().load()->size(), 1U) << "an old bundle must not come back";
    }
}

TEST_F(RegistryBackup, WithoutTheLogInPlaceItDoesNotKnowWhatWasRemovedAndSaysSo) {
    ASSERT_TRUE(write_backup(registry_backups(), files, backup, kNoon));
    remove("zone", "one");
    audit.reset();
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(files.audit + end);
    const auto restored = restore();
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_FALSE(restored->files.kept_audit);
    EXPECT_THAT(zones(), ElementsAre("one", "three", "two"));
}

TEST_F(RegistryBackup, TheRestoreIsOnRecordAndTheLogIsWhole) {
    const auto made = write_backup(registry_backups(), files, backup, kNoon);
    remove("zone", "one");
    const AuditHead later = audit->head();
    ASSERT_TRUE(restore());
    const auto log = verify_audit_log(files.audit, later);
    ASSERT_TRUE(log) << log.error();
    const auto last = audit->read(later.entries + 1, 1);
    ASSERT_EQ(last->size(), 1U);
    EXPECT_EQ(last->front().entry.action, "restoreBackup");
    EXPECT_THAT(last->front().entry.detail, HasSubstr("tokens closed: 1, removed again: 1"));
}

TEST_F(RegistryBackup, ADatabaseThatLostItsRowsIsRefusedAndOneThatNeverHadAZoneIsNot) {
    const auto without = [&](const char* rows) {
        close();
        {
            const auto database = Database::open(files.database, registry_schema());
            EXPECT_TRUE(Database::Query(**database, std::string("DELETE FROM record WHERE ") + rows).step());
        }
        return check_database_kept(registry_backups(), files, {});
    };
    EXPECT_TRUE(without("kind IN ('zone', 'organisation', 'enrolment right')"));
    const auto kept = without("true");
    ASSERT_FALSE(kept);
    EXPECT_THAT(kept.error().message, HasSubstr("zbs-registry restore FILE"));
}

TEST_F(RegistryBackup, WhatIsNoGoodBackupOfThisRegistryIsRefusedAndChangesNothing) {
    ASSERT_TRUE(write_backup(registry_backups(), files, backup, kNoon));
    const std::string good = backup;
    const ServiceFiles zone{folder.path("zone.db"), folder.path("zone_audit.db"), "spiffe://grid/zone/main"};
    ASSERT_TRUE(open_zone_database(zone.database) && open_audit_log(zone.audit, {zone.who, kNoon}));
    ASSERT_TRUE(write_backup(zone_backups(), zone, folder.path("zone"), kNoon));
    ASSERT_TRUE(write_backup(registry_backups(), {files.database, files.audit, "spiffe://grid/registry/two"},
                             folder.path("other"), kNoon));
    fs::copy(good, folder.path("torn"));
    fs::resize_file(folder.path("torn"), fs::file_size(good) / 2);
    for (const auto& [name, words] : {std::pair{"zone", "this registry is"},
                                      {"other", "this registry is"},
                                      {"torn", "cannot be used"},
                                      {"registry.db", "zbs-registry backup"},
                                      {"nowhere", "check that it exists"}}) {
        backup = folder.path(name);
        const auto refused = restore();
        ASSERT_FALSE(refused) << name;
        EXPECT_THAT(refused.error().message, HasSubstr(words)) << name;
    }
    open();
    EXPECT_THAT(zones(), ElementsAre("one", "three", "two"));
    EXPECT_EQ(registry->zones().load()->front().lease, std::chrono::seconds{40});
    EXPECT_FALSE(is_half_restored(files));
}

}  // namespace
}  // namespace zbs::sqlite
