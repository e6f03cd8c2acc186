
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::sqlite {
namespace {
using namespace zbs::test;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr Time kMonday{std::chrono::seconds{1'700'000'000}};
constexpr Time kTuesday = kMonday + std::chrono::hours{24};

class ZoneBackup : public testing::Test {
  protected:
    ZoneBackup() { open(); }
    void open() {
        auto database = open_zone_database(files.database, Durability::kBatches);
        auto log = database ? open_audit_log(files.audit, {files.who, kMonday}, (*database).outbox.get())
                            : Result<std::unique_ptr<AuditLog>>(Error{});
        ASSERT_TRUE(database && log);
        zone = *std::move(database);
        audit = *std::move(log);
    }
    void close() {
        audit.reset();
        zone = {};
    }
    /// As the zone does it: on record, then stored, then durable.
    void submit(std::uint64_t low) {
        ASSERT_TRUE(audit->append({.at = kMonday, .who = "ana", .action = "scheduleApplication"}, AuditUrgency::kNow));
        Application application = some_application();
        application.request.id = {some_id(low)};
        ASSERT_TRUE(zone.zone->insert(application));
        ASSERT_TRUE(zone.journal->commit());
    }
    std::uint64_t token() {
        const auto token = zone.zone->next_token();
        EXPECT_TRUE(zone.journal->commit());
        return *token;
    }
    std::size_t applications() { return zone.zone->list_applications({.limit = 1'000})->size(); }

    TemporaryFolder folder;
    ServiceFiles files{folder.path("zone.db"), folder.path("audit.db"), "spiffe://alpha/zone/one"};
    std::string backup = folder.path("backup.db");
    ZoneDatabase zone;
    std::unique_ptr<AuditLog> audit;
    /// On record with the next commit only; the log's file has it later.
    void allow_soon(const std::string& who) {
        ASSERT_TRUE(audit->append({.at = kMonday, .who = who, .action = "createUser"}, AuditUrgency::kWithWrites));
        ASSERT_TRUE(zone.journal->commit());
    }
};

TEST_F(ZoneBackup, RecordsOnTheirWayToTheLogAreNotLost) {
    allow_soon("in the backup");
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    for (const bool with_log : {true, false}) {
        allow_soon("after it");
        // As kill -9 leaves it: the log has not heard of them.
        const TemporaryFolder crashed;
        for (const char* name : {"zone.db", "zone.db-wal", "audit.db", "audit.db-wal"})
            if (fs::exists(folder.path(name)) && (with_log || !std::string(name).starts_with("audit")))
                fs::copy(folder.path(name), crashed.path(name));
        const ServiceFiles there{crashed.path("zone.db"), crashed.path("audit.db"), files.who};
        const auto restored = restore_zone(backup, there, kTuesday);
        ASSERT_TRUE(restored) << restored.error();
        auto log = open_audit_log(there.audit, {there.who, kTuesday});
        std::string who;
        const auto rows = (*log)->read(1, 1'000);
        for (const AuditRecord& row : *rows) who += row.entry.who + ";";
        EXPECT_THAT(who, HasSubstr("in the backup;"));
        EXPECT_EQ(who.find("after it") != std::string::npos, with_log) << who;
        EXPECT_TRUE(verify_audit_log(there.audit));
    }
}

TEST_F(ZoneBackup, ARunningZoneIsBackedUpAsItStandsAndGoesOn) {
    for (std::uint64_t i = 0; i < 5; ++i) submit(i);
    const auto made = write_backup(zone_backups(), files, backup, kMonday);
    ASSERT_TRUE(made) << made.error();
    EXPECT_THAT(to_string(*made), HasSubstr("5 applications, "));
    EXPECT_EQ(made->audit, audit->head());
    struct stat info {};
    ASSERT_EQ(stat(backup.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
    EXPECT_FALSE(fs::exists(backup + ".part"));
    submit(9);
    EXPECT_EQ(applications(), 6U);
    const auto checked = check_backup(zone_backups(), backup, files.who);
    ASSERT_TRUE(checked) << checked.error();
    EXPECT_THAT(to_string(*checked), HasSubstr("5 applications, ")) << "what came later is not in it";
}

TEST_F(ZoneBackup, WhatIsNotYetDurableIsNotInIt) {
    submit(1);
    Application application = some_application();
    application.request.id = {some_id(2)};
    ASSERT_TRUE(zone.zone->insert(application));
    EXPECT_THAT(to_string(*write_backup(zone_backups(), files, backup, kMonday)), HasSubstr("1 applications, "));
}

TEST_F(ZoneBackup, ReplacesNothing) {
    std::ofstream(backup) << "dear";
    EXPECT_EQ(write_backup(zone_backups(), files, backup, kMonday).error().code, ErrorCode::kConflict);
    EXPECT_EQ(fs::file_size(backup), 4U);
}

TEST_F(ZoneBackup, RestoredItHasWhatItHadAndTokensThatNobodyHasSeen) {
    submit(1);
    const std::uint64_t before = token();
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    submit(2);
    std::uint64_t last = before;
    for (int i = 0; i < 10; ++i) last = token();
    close();
    const auto restored = restore_zone(backup, files, kTuesday);
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_TRUE(fs::exists(restored->files.kept));
    open();
    EXPECT_EQ(applications(), 1U);
    const std::uint64_t next = token();
    EXPECT_GT(next, last);
    EXPECT_EQ(next, restored->first_token);
    close();
    // The same backup once more, a second later: what was given in between is not given again.
    const auto again = restore_zone(backup, files, kTuesday + std::chrono::seconds{1});
    ASSERT_TRUE(again);
    EXPECT_GT(again->first_token, next);
}

TEST_F(ZoneBackup, TheTimeLastBelievedIsNoCounterThatGoesOn) {
    ASSERT_TRUE(zone.zone->record_believed_time(kMonday));
    ASSERT_TRUE(zone.journal->commit());
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    close();
    ASSERT_TRUE(restore_zone(backup, files, kTuesday));
    open();
    EXPECT_EQ(*zone.zone->believed_time(), kMonday) << "another would be a clock that jumped";
}

TEST_F(ZoneBackup, TokensGrowAlsoWhereTheClockIsWrong) {
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    close();
    ASSERT_TRUE(restore_zone(backup, files, kTuesday));
    open();
    const std::uint64_t last = token();
    close();
    const auto restored = restore_zone(backup, files, Time{});  // 1970
    ASSERT_TRUE(restored);
    EXPECT_GT(restored->first_token, last) << "the old database is still there and is asked";
}

TEST_F(ZoneBackup, TheLogInPlaceKnowsMoreAndStays) {
    submit(1);
    const auto made = write_backup(zone_backups(), files, backup, kMonday);
    submit(2);
    const AuditHead later = audit->head();
    close();
    const auto restored = restore_zone(backup, files, kTuesday);
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_TRUE(restored->files.kept_audit);
    const auto log = verify_audit_log(files.audit, later);
    ASSERT_TRUE(log) << log.error();
    EXPECT_EQ(log->head.entries, later.entries + 1) << "and has the restore itself";
}

TEST_F(ZoneBackup, ALogThatIsGoneOrBrokenComesFromTheBackup) {
    submit(1);
    const AuditHead head = audit->head();
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    close();
    for (const bool gone : {true, false}) {
        if (gone)
            fs::remove(files.audit);
        else
            std::ofstream(files.audit) << std::string(8'192, 'x');
        const auto restored = restore_zone(backup, files, kTuesday + std::chrono::seconds{gone});
        ASSERT_TRUE(restored) << restored.error();
        EXPECT_FALSE(restored->files.kept_audit);
        const auto log = verify_audit_log(files.audit, head);
        ASSERT_TRUE(log) << log.error();
        EXPECT_EQ(log->head.entries, head.entries + 1);
    }
}

TEST_F(ZoneBackup, AZoneWithoutAnythingIsMadeFromIt) {
    submit(1);
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    close();
    for (const char* name : {"zone.db", "audit.db"}) fs::remove(folder.path(name));
    ASSERT_TRUE(restore_zone(backup, files, kTuesday));
    open();
    EXPECT_EQ(applications(), 1U);
}

TEST_F(ZoneBackup, ADatabaseThatIsMissingOrEmptyBesideTracesOfARunIsRefused) {
    const std::string steps = folder.path("steps");
    const auto refusal = [&] {
        const auto kept = check_database_kept(zone_backups(), files, {steps});
        return kept ? std::string{} : kept.error().message;
    };
    submit(1);
    EXPECT_EQ(refusal(), "");
    close();
    fs::resize_file(files.database, 0);
    EXPECT_THAT(refusal(), HasSubstr("is empty, but this zone has run before (see " + files.audit));
    fs::remove(files.database);
    EXPECT_THAT(refusal(), HasSubstr("is missing, but this zone has run before (see " + files.audit));
    fs::remove(files.audit);
    fs::create_directory(steps);
    EXPECT_EQ(refusal(), "") << "a folder without steps is no trace of a run";
    fs::create_directory(steps + "/step");
    EXPECT_THAT(refusal(), HasSubstr("is missing, but this zone has run before (see " + steps));
    EXPECT_FALSE(fs::exists(files.database));
}

TEST_F(ZoneBackup, ADatabaseWithTablesAndWithoutItsRowsIsRefusedBesideTracesOfARun) {
    for (const char* emptied : {"record", "counter", ""}) {
        close();
        open();
        submit(1);
        close();
        ASSERT_TRUE(check_database_kept(zone_backups(), files, {})) << emptied;
        if (*emptied != '\0') {
            const auto database = Database::open(files.database, zone_schema());
            ASSERT_TRUE(Database::Query(**database, std::string("DELETE FROM ") + emptied).step());
        } else {  // the tables alone
            fs::remove(files.database);
            const auto database = Database::open(files.database, zone_schema());
            for (const char* table : {"record", "counter"})
                ASSERT_TRUE(Database::Query(**database, std::string("DELETE FROM ") + table).step());
        }
        const auto kept = check_database_kept(zone_backups(), files, {});
        ASSERT_FALSE(kept) << emptied;
        EXPECT_THAT(kept.error().message, HasSubstr("not the rows of one in use), but this zone has run before"));
        EXPECT_THAT(kept.error().message, HasSubstr("zbs-zone restore FILE"));
        fs::remove(files.database);
        fs::remove(files.audit);
    }
}

TEST_F(ZoneBackup, WhatIsNoGoodBackupOfThisZoneIsRefusedAndChangesNothing) {
    submit(1);
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    ASSERT_TRUE(write_backup(zone_backups(), {files.database, files.audit, "spiffe://alpha/zone/two"},
                             folder.path("other"), kMonday));
    std::ofstream(folder.path("text")) << std::string(8'192, 'x');
    fs::copy(backup, folder.path("torn"));
    fs::resize_file(folder.path("torn"), fs::file_size(backup) / 2);
    fs::copy(backup, folder.path("newer"));
    fs::copy(backup, folder.path("forged"));
    for (const auto& [name, sql] :
         {std::pair{"newer", "PRAGMA user_version=99"}, {"forged", "UPDATE audit SET who='bob' WHERE number=2"}}) {
        const auto scratch = Database::open_scratch(folder.path(name));
        ASSERT_TRUE(Database::Query(**scratch, sql).step());
    }
    close();
    for (const auto& [name, words] : {std::pair{"other", "this zone is"},
                                      {"text", "not a database"},
                                      {"torn", "backup"},
                                      {"newer", "newer program"},
                                      {"forged", "entry 2"},
                                      {"zone.db", "zbs-zone backup"},
                                      {"nowhere", "check that it exists"}}) {
        const auto refused = restore_zone(folder.path(name), files, kTuesday);
        ASSERT_FALSE(refused) << name;
        EXPECT_THAT(refused.error().message, HasSubstr(words)) << name;
    }
    open();
    EXPECT_EQ(applications(), 1U);
    EXPECT_FALSE(is_half_restored(files));
}

TEST_F(ZoneBackup, AnInterruptedRestoreIsSeenAndCanBeRunAgain) {
    submit(1);
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    close();
    std::ofstream(files.database + ".restoring") << "";
    fs::rename(files.database, folder.path("moved"));  // as it stood when the power went
    EXPECT_TRUE(is_half_restored(files));
    ASSERT_TRUE(restore_zone(backup, files, kTuesday));
    EXPECT_FALSE(is_half_restored(files));
    open();
    EXPECT_EQ(applications(), 1U);
}

TEST_F(ZoneBackup, KnowsTheStepsOfItsApplicationsAndParts) {
    submit(1);  // its operation is op-1
    PartRecord part = some_part_record();
    part.operation = "run-X";
    ASSERT_TRUE(zone.zone->save(part));
    ASSERT_TRUE(zone.journal->commit());
    ASSERT_TRUE(write_backup(zone_backups(), files, backup, kMonday));
    const auto knows = known_steps(backup);
    ASSERT_TRUE(knows) << knows.error();
    EXPECT_TRUE((*knows)("op-1"));
    EXPECT_TRUE((*knows)("run-X-p3"));
    EXPECT_FALSE((*knows)("run-Y-p3"));
    EXPECT_FALSE((*knows)("mpi-1"));
}

}  // namespace
}  // namespace zbs::sqlite
