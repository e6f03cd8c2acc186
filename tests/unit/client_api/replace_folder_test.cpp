#include "client/api/replace_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {
namespace fs = std::filesystem;

class ReplaceFolder : public testing::Test {
  protected:
    std::string make(const std::string& name, const std::string& key) {
        fs::create_directories(folder.path(name));
        std::ofstream(folder.path(name + "/key.pem")) << key;
        return folder.path(name);
    }
    std::string key_in(const std::string& name) {
        std::ifstream file(folder.path(name + "/key.pem"));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    TemporaryFolder folder;
};

TEST_F(ReplaceFolder, TheEarlierKeyIsGone) {
    make("mine", "earlier");
    make("mine.old", "left by an earlier version");
    ASSERT_TRUE(client::replace_folder(make("mine.new", "fresh"), folder.path("mine")));
    EXPECT_EQ(key_in("mine"), "fresh");
    EXPECT_FALSE(fs::exists(folder.path("mine.old")));
    EXPECT_FALSE(fs::exists(folder.path("mine.new")));
}

TEST_F(ReplaceFolder, WhereNoneIsThereItIsTheFirst) {
    ASSERT_TRUE(client::replace_folder(make("mine.new", "fresh"), folder.path("mine")));
    EXPECT_EQ(key_in("mine"), "fresh");
}

TEST_F(ReplaceFolder, WhatCannotBePutInPlaceLeavesTheEarlierOne) {
    make("mine", "earlier");
    const Result<void> replaced = client::replace_folder(folder.path("nowhere"), folder.path("mine"));
    ASSERT_FALSE(replaced);
    EXPECT_EQ(replaced.error().pointer, folder.path("mine"));
    EXPECT_EQ(key_in("mine"), "earlier");
}

}  // namespace
}  // namespace zbs::test
