#include "client/api/replace_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

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

TEST_F(ReplaceFolder, AReaderFindsAFolderAtEachInstant) {
    make("mine", "first");
    std::atomic<bool> ends = false;
    int missing = 0;
    std::thread reader([&] {
        while (!ends) missing += !fs::exists(folder.path("mine"));
    });
    for (int i = 0; i < 300; ++i)
        EXPECT_TRUE(client::replace_folder(make("mine.new", std::to_string(i)), folder.path("mine")));
    ends = true;
    reader.join();
    EXPECT_EQ(missing, 0);
    EXPECT_EQ(key_in("mine"), "299");
}

TEST_F(ReplaceFolder, AReplacementThatWasCutShortIsUndone) {
    make("mine.old", "earlier");
    EXPECT_TRUE(client::recover_folder(folder.path("mine")).value());
    EXPECT_EQ(key_in("mine"), "earlier");
    EXPECT_FALSE(client::recover_folder(folder.path("mine")).value());
    EXPECT_FALSE(client::recover_folder(folder.path("nothing")).value());
}

TEST_F(ReplaceFolder, TheLockOfAFolderIsForOneAtATime) {
    auto first = client::lock_folder(folder.path("mine"), client::LockWait::kNo);
    ASSERT_TRUE(first);
    EXPECT_TRUE(*first);
    const auto second = client::lock_folder(folder.path("mine"), client::LockWait::kNo);
    ASSERT_TRUE(second);
    EXPECT_FALSE(*second);
    *first = Descriptor();
    const auto third = client::lock_folder(folder.path("mine"), client::LockWait::kUntilFree);
    ASSERT_TRUE(third);
    EXPECT_TRUE(*third);
    const auto nowhere = client::lock_folder(folder.path("no/folder"), client::LockWait::kNo);
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().pointer, folder.path("no/folder.lock"));
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
