#include "services/common/adapters/process/protection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace zbs::process {
namespace {
using testing::AllOf;
using testing::HasSubstr;

struct Case {
    const char* name;
    StepExecutorOptions options;
    HostAbilities host;
    Isolation isolation;
    const char* words;
};

class ProtectionTest : public testing::TestWithParam<Case> {};

TEST_P(ProtectionTest, IsTheWeakestOfAnyJob) {
    const Protection protection = describe_protection(GetParam().options, GetParam().host);
    EXPECT_EQ(protection.isolation, GetParam().isolation);
    EXPECT_THAT(protection.text, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    , ProtectionTest,
    testing::Values(
        Case{"RootJobsMakeItNone", {}, {.is_root = true}, Isolation::kNone, "run as root"},
        Case{"RefusedRootJobs",
             {.allow_root_jobs = false},
             {.is_root = true},
             Isolation::kAccounts,
             "jobs without one are refused"},
        Case{"DefaultAccount", {.default_account = "nobody"}, {.is_root = true}, Isolation::kAccounts, "run as nobody"},
        Case{"AccountsWithoutNamespaces",
             {.default_account = "nobody"},
             {.is_root = true, .namespaces_fault = "not allowed here"},
             Isolation::kAccounts,
             "(not allowed here)"},
        Case{"OneUser", {.hidden_paths = {"/state"}}, {.user = "zbs"}, Isolation::kNamespace, "/state"},
        Case{"OneUserWithoutNamespaces",
             {},
             {.user = "zbs", .namespaces_fault = "not allowed here"},
             Isolation::kNone,
             "can read its keys"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(HiddenFolders, HaveToBeThereAndBeFolders) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path("file")) << "x";
    const auto fault_of = [&](const std::string& path) {
        const auto found = find_hidden_folders({.folder = folder.path(), .hidden_paths = {path}});
        return found ? std::string{} : found.error().message;
    };
    EXPECT_THAT(fault_of(folder.path("none")), AllOf(HasSubstr(folder.path("none")), HasSubstr("not there")));
    EXPECT_THAT(fault_of(folder.path("file")), HasSubstr("name the folder that holds it"));
    EXPECT_THAT(fault_of("relative"), AllOf(HasSubstr("'relative'"), HasSubstr("path from the root")));
    EXPECT_THAT(fault_of("/"), HasSubstr("root folder"));
}

TEST(HiddenFolders, AreNamedWithoutLinksAndOnce) {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory_symlink(folder.path(), folder.path("link"));
    const auto found = find_hidden_folders({.folder = folder.path(), .hidden_paths = {folder.path("link")}});
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(std::count(found->begin(), found->end(), folder.path()), 1);
    EXPECT_THAT(*found, testing::Not(testing::Contains(folder.path("link"))));
}

}  // namespace
}  // namespace zbs::process
