#include "services/common/adapters/system/absolute_path.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace zbs::system {
namespace {

TEST(AbsolutePath, KeepsWhatTheKernelWouldFind) {
    const std::pair<const char*, const char*> cases[] = {{"x", "/d/x"},
                                                         {"./x", "/d/x"},
                                                         {"../x", "/d/../x"},
                                                         {"a/../x", "/d/a/../x"},
                                                         {"/a//b", "/a/b"},
                                                         {"//a/./b", "/a/b"},
                                                         {"a/", "/d/a/"},
                                                         {"a/.", "/d/a/"},
                                                         {"/a/link/..", "/a/link/.."},
                                                         {".", "/d/"},
                                                         {"/", "/"},
                                                         {" ", "/d/ "},
                                                         {"...", "/d/..."},
                                                         {"", ""}};
    for (const auto& [path, expected] : cases) EXPECT_EQ(absolute_path(path, "/d"), expected) << path;
}

TEST(AbsolutePath, IsRelativeToTheCurrentFolder) {
    EXPECT_EQ(absolute_path("x"), (std::filesystem::current_path() / "x").string());
    EXPECT_EQ(absolute_path("/x"), "/x");
}

}  // namespace
}  // namespace zbs::system
