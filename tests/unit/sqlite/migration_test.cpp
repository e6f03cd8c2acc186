#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <sstream>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/registry_store.hpp"
#include "services/common/adapters/sqlite/zone_schema.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/temporary_folder.hpp"

// Databases as earlier versions left them (schemas/*.sql) are taken up by this one. A new version adds its file here.

namespace zbs::sqlite {
namespace {
using namespace zbs::test;
using testing::ElementsAre;
using testing::HasSubstr;

class Migration : public testing::Test {
  protected:
    /// A database made from one of the stored texts.
    std::string make(const std::string& name) {
        std::ifstream file(std::string(ZBS_SCHEMA_TEXTS) + "/" + name + ".sql");
        std::stringstream sql;
        sql << file.rdbuf();
        EXPECT_FALSE(sql.str().empty()) << name;
        const std::string path = folder.path(name + ".db");
        sqlite3* handle = nullptr;
        EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle, sql.str().c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(handle);
        sqlite3_close(handle);
        return path;
    }
    TemporaryFolder folder;
};

Id128 stored_id(char digit) { return *parse_id128(std::string("01HF7YAT00000000000000000") + digit); }

TEST_F(Migration, EveryOlderVersionOfAZoneHasItsText) {
    for (std::size_t version = 1; version < zone_schema().size(); ++version)
        EXPECT_TRUE(std::ifstream(std::string(ZBS_SCHEMA_TEXTS) + "/zone_" + std::to_string(version) + ".sql"))
            << version;
}

TEST_F(Migration, AZonesApplicationsAndPartsComeAlong) {
    const Caller ana{CallerKind::kUser, "alpha", "ana"};
    for (std::size_t version = 1; version < zone_schema().size(); ++version) {
        SCOPED_TRACE(version);
        const std::string path = make("zone_" + std::to_string(version));
        for (const bool again : {false, true}) {
            const auto opened = open_zone_database(path);
            ASSERT_TRUE(opened) << opened.error();
            ZoneStore& store = *opened->zone;
            const auto open = store.load_open_applications();
            ASSERT_TRUE(open) << open.error();
            ASSERT_EQ(open->size(), 2U) << "one waits, one has something to give back";
            EXPECT_EQ(open->at(0).status.reason, "too few processors");
            EXPECT_EQ(open->at(1).status.releasing.size(), 1U);
            const auto ended = store.find_application({stored_id('1')});
            ASSERT_TRUE(ended && *ended);
            EXPECT_EQ((*ended)->request.argv, (std::vector<std::string>{"./it's", "-x"}));
            EXPECT_THAT(*store.list_applications({.owner = ana}),
                        ElementsAre(summary_of(open->at(0)), summary_of(**ended)));
            EXPECT_THAT(*store.list_applications({.owner = ana, .since = open->at(0).status.history.front().at}),
                        ElementsAre(summary_of(open->at(0))));
            EXPECT_THAT(*store.ended_applications(time_from_microseconds(1'700'000'000'000'007), 9),
                        ElementsAre(EndedApplication{{stored_id('1')}, "mpi-" + to_string(stored_id('1'))}));
            ASSERT_EQ(store.load_open_parts()->size(), 1U);
            EXPECT_EQ(store.load_open_parts()->front().request.id.value, stored_id('7'));
            EXPECT_EQ((**store.find_part({stored_id('4')})).status.state, PartState::kCompleted);
            EXPECT_THAT(*store.ended_parts(time_from_microseconds(1'700'000'000'000'000), 9), testing::IsEmpty())
                << "before the third version nobody wrote down when it ended: its days begin then";
            EXPECT_EQ(store.ended_parts(time_from_microseconds(INT64_MAX), 9)->size(), 1U);
            EXPECT_EQ(*store.next_token(), again ? 11U : 10U);
            const auto profile = store.load_profile(ana, {stored_id('8')});
            ASSERT_TRUE(profile && *profile);
            EXPECT_THAT(*store.profiles_of({ana, "./app", ""}), ElementsAre(summary_of(**profile)));
            EXPECT_EQ((**profile).arguments, kUnknownArguments);
            EXPECT_EQ((**profile).digest + ";", ";");
            EXPECT_FALSE((**profile).predicted || (**profile).measured) << "nobody had noted them";
            const auto events = store.events({.application = ApplicationId{stored_id('1')}});
            ASSERT_TRUE(events) << events.error();
            ASSERT_EQ(events->size(), 7U) << "as many as its history has";
            EXPECT_EQ(events->back().state, "completed");
            EXPECT_EQ(events->back().owner, ana);
            EXPECT_EQ(store.events({})->size(), *store.last_event()) << "numbered from 1 without a gap";
            if (version == 6) {
                EXPECT_EQ(store.events({.after = 9})->back().part, PartId{stored_id('4')}) << "one of a part";
            }
            EXPECT_EQ(opened->site->blocks().load()->size(), version >= 2 ? 1U : 0U);
        }
    }
}

TEST_F(Migration, EventsOfPartsAreKeptApartFromThoseOfApplications) {
    const auto opened = open_zone_database(make("zone_6"));
    ASSERT_TRUE(opened) << opened.error();
    const std::size_t before = opened->zone->events({})->size();
    EXPECT_THAT(*opened->zone->events({.application = ApplicationId{stored_id('4')}}), testing::IsEmpty());
    ASSERT_TRUE(opened->zone->remove(PartId{stored_id('4')}));
    EXPECT_EQ(opened->zone->events({})->size(), before - 1) << "it went with its part";
}

TEST_F(Migration, AnAuditLogGoesOnFromWhatItHad) {
    const std::string path = make("audit_1");
    EXPECT_FALSE(verify_audit_log(path)) << "it does not say yet where it begins";
    const auto opened = open_audit_log(path, {"spiffe://alpha/zone/one", time_from_microseconds(7)});
    ASSERT_TRUE(opened) << opened.error();
    EXPECT_EQ((*opened)->head().entries, 2U);
    const auto verified = verify_audit_log(path);
    ASSERT_TRUE(verified) << verified.error();
    EXPECT_EQ(verified->begun, 2U);
}

TEST_F(Migration, ARegistryDropsEntriesThatNobodyHadSigned) {
    const auto opened = open_registry_store(make("registry_1"));
    ASSERT_TRUE(opened) << opened.error();
    EXPECT_TRUE((*opened)->zones().load()->empty());
}

TEST_F(Migration, ADatabaseOfANewerVersionIsRefusedWithAdviceAndStaysAsItIs) {
    const std::string path = folder.path("zone.db");
    ASSERT_TRUE(open_zone_database(path));
    std::vector<std::string> newer = zone_schema();
    newer.emplace_back("CREATE TABLE later(x)");
    ASSERT_TRUE(Database::open(path, newer));
    const auto refused = open_zone_database(path);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr("schema version " + std::to_string(newer.size())),
                                                        HasSubstr(path), HasSubstr("newer program")));
    EXPECT_TRUE(Database::open(path, newer));
}

TEST_F(Migration, AStepThatFailsLeavesTheOldVersion) {
    const std::string path = make("zone_2");
    std::vector<std::string> broken = zone_schema();
    broken.back() += "; THIS IS NO SQL";
    ASSERT_FALSE(Database::open(path, broken));
    const auto opened = open_zone_database(path);
    ASSERT_TRUE(opened) << opened.error();
    EXPECT_EQ(opened->zone->load_open_applications()->size(), 2U);
}

}  // namespace
}  // namespace zbs::sqlite
