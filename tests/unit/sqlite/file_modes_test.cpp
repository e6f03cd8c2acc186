#include <gtest/gtest.h>

#include <filesystem>

#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/registry_store.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "tests/support/file_modes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::sqlite {
namespace {
using namespace zbs::test;

TEST(DatabaseFiles, AreTheirOwnersOnlyUnderAnyUmask) {
    const TemporaryFolder folder;
    const UmaskOff careless;
    const auto zone = open_zone_database(folder.path("zone.db"));
    const auto registry = open_registry_store(folder.path("registry.db"));
    const auto audit = open_audit_log(folder.path("audit.db"), {"spiffe://alpha/zone/one", {}});
    ASSERT_TRUE(zone && registry && audit);
    ASSERT_TRUE((*audit)->append({.who = "somebody"}, AuditUrgency::kNow));
    int journals = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        EXPECT_EQ(mode_of(entry.path()), 0600) << entry.path();
        journals += entry.path().string().ends_with("-wal");
    }
    EXPECT_EQ(journals, 3) << "open databases have their journals beside them";
}

}  // namespace
}  // namespace zbs::sqlite
