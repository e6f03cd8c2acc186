#include <gtest/gtest.h>

#include <filesystem>

#include "services/common/adapters/openssl/own_keys.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/file_modes.hpp"
#include "tests/support/temporary_folder.hpp"

// Whoever starts a service with a careless umask gives its keys to nobody all the same.

namespace zbs::openssl {
namespace {
using namespace zbs::test;

TEST(KeyFiles, AreTheirOwnersOnlyUnderAnyUmask) {
    const TemporaryFolder folder;
    const UmaskOff careless;
    ASSERT_TRUE(create_organisation(folder.path("zone"), "org-a", "alpha", kToday));
    ASSERT_TRUE(make_registry(folder.path("registry"), "grid", "main", kToday));
    ASSERT_TRUE(issue_operator(folder.path("zone"), "second", kToday));
    std::vector<std::string> keys;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
        EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0700 : 0600) << entry.path();
        if (entry.path().filename().string().find("key") != std::string::npos) keys.push_back(entry.path());
    }
    EXPECT_GE(keys.size(), 4U) << "zone, its CA, its operator, and those of the registry";
}

}  // namespace
}  // namespace zbs::openssl
