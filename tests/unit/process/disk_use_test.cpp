#include "services/common/adapters/process/disk_use.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "services/node_agent/step/folder_watch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::process {
namespace {

namespace fs = std::filesystem;

struct DiskUseTest : testing::Test {
    const test::TemporaryFolder folder;
    std::string job = folder.path("job");
    DiskUseTest() { fs::create_directory(job); }

    void write(const std::string& name, std::size_t bytes) {
        std::ofstream(job + "/" + name, std::ios::binary) << std::string(bytes, 'x');
    }
    std::uint64_t on_disk(const std::string& name) {
        struct stat info {};
        EXPECT_EQ(lstat((job + "/" + name).c_str(), &info), 0) << name;
        return static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    std::uint64_t whole() {
        const std::optional<std::uint64_t> bytes = DiskUse(job).measure({.entries = 100'000, .time = kPatience});
        EXPECT_TRUE(bytes);
        return bytes.value_or(0);
    }
    static constexpr std::chrono::milliseconds kPatience = std::chrono::minutes{1};
};

TEST_F(DiskUseTest, OneTurnSeesNoMoreThanItsEntriesAndTheNextGoesOn) {
    fs::create_directory(job + "/below");
    for (int i = 0; i < 300; ++i) write((i % 2 == 0 ? "below/" : "") + std::string("f") + std::to_string(i), 1);
    DiskUse use(job);
    int turns = 1;
    std::optional<std::uint64_t> bytes;
    while (!(bytes = use.measure({.entries = 50, .time = kPatience}))) ++turns;
    EXPECT_GE(turns, 301 / 50);
    EXPECT_EQ(*bytes, whole());
    EXPECT_FALSE(use.measure({.entries = 50, .time = kPatience})) << "the next measurement begins anew";
    EXPECT_FALSE(DiskUse(job).measure({.entries = 100'000, .time = std::chrono::milliseconds{0}}))
        << "or when time is up";
}

TEST_F(DiskUseTest, AFileOfSeveralNamesCountsOnce) {
    write("a", 1'000'000);
    const std::uint64_t one = whole();
    EXPECT_EQ(one, on_disk("a"));
    fs::create_directory(job + "/below");
    fs::create_hard_link(job + "/a", job + "/b");
    fs::create_hard_link(job + "/a", job + "/below/c");
    EXPECT_EQ(whole(), one + on_disk("below"));
}

TEST_F(DiskUseTest, BeyondWhatIsRememberedEachNameCountsItsShare) {
    constexpr int kFiles = 20;
    for (int i = 0; i < kFiles; ++i) {
        write("f" + std::to_string(i), 1);
        fs::create_hard_link(job + "/f" + std::to_string(i), job + "/g" + std::to_string(i));
    }
    EXPECT_EQ(DiskUse(job, 5).measure({}), kFiles * on_disk("f0"));
}

TEST_F(DiskUseTest, OwnOutputLinksAndWhatTheyLeadToDoNotCount) {
    write(".zbs-stdout", 100'000);
    write(".zbs-out.7", 100'000);
    fs::create_directory_symlink("/usr", job + "/usr");
    EXPECT_EQ(whole(), on_disk("usr"));
    fs::create_directory(job + "/d");
    write("d/.zbs-stdout", 100'000);
    EXPECT_EQ(whole(), on_disk("usr") + on_disk("d") + on_disk("d/.zbs-stdout")) << "only at the top";
    EXPECT_EQ(DiskUse(folder.path("none")).measure({}), 0U);
}

TEST_F(DiskUseTest, AWatchBelievesALongLookOnceTheNextSaysTheSame) {
    for (int i = 0; i < 20; ++i) write("f" + std::to_string(i), 10'000);
    const auto looks_until_over = [&](std::size_t entries) {
        step::FolderWatch watch(job, 100'000, {.entries = entries, .time = kPatience});
        for (int turns = 1; turns < 1'000; ++turns) {
            while (std::chrono::steady_clock::now() < watch.next()) {
            }
            if (watch.is_over()) return turns;
        }
        return 0;
    };
    EXPECT_EQ(looks_until_over(100), 1);
    EXPECT_GT(looks_until_over(10), 4) << "two looks of two turns at least";
    step::FolderWatch unbound(job, 0);
    EXPECT_FALSE(unbound.is_over());
}

TEST_F(DiskUseTest, WhatOnlyLooksLikeAProfileCounts) {
    write(".zbs-profile.json.rank.3", 100'000);
    EXPECT_EQ(whole(), 0U);
    write(".zbs-profile.json.hoard", 100'000);
    EXPECT_EQ(whole(), on_disk(".zbs-profile.json.hoard"));
}

TEST_F(DiskUseTest, WhatCannotBeSeenIsTold) {
    DiskUse use(job, 32'768, 10);
    for (int i = 0; i < 10; ++i) write("f" + std::to_string(i), 1);
    EXPECT_TRUE(use.measure({}));
    EXPECT_EQ(use.unseen(), "");
    write("one-more", 1);
    EXPECT_TRUE(use.measure({}));
    EXPECT_EQ(use.unseen(), "more than 10 files are in it");
    fs::remove(job + "/one-more");
    EXPECT_TRUE(use.measure({}));
    EXPECT_EQ(use.unseen(), "") << "each look says it anew";

    fs::create_directory(job + "/closed");
    fs::permissions(job + "/closed", fs::perms::none);
    const bool is_root = geteuid() == 0;  // whom nothing is closed to
    if (is_root) {
        fs::permissions(folder.path(""), fs::perms::all);
        ASSERT_EQ(seteuid(65'534), 0);
    }
    DiskUse closed(job);
    EXPECT_TRUE(closed.measure({}));
    if (is_root) {
        ASSERT_EQ(seteuid(0), 0);
    }
    EXPECT_EQ(closed.unseen(), "") << "a program may close a folder of its own";
    fs::permissions(job + "/closed", fs::perms::owner_all);
    DiskUse none(folder.path("none"));
    EXPECT_EQ(none.measure({}), 0U);
    EXPECT_EQ(none.unseen(), "") << "no folder is no fault";
}

TEST_F(DiskUseTest, AWatchLeavesAJobWithManyLevelsOfFoldersAlone) {
    std::string deep = job;
    for (int i = 0; i < 64; ++i) fs::create_directory(deep += "/d");
    const auto fault = [&] {
        step::FolderWatch watch(job, 100'000'000, {.entries = 1'000, .time = kPatience});
        bool over = false;
        for (int looks = 0; looks < 2; ++looks) {
            while (std::chrono::steady_clock::now() < watch.next()) {
            }
            over = watch.is_over();
        }
        if (!over) return std::string{};
        return watch.reason();
    };
    EXPECT_EQ(fault(), "");
    fs::create_directory(deep + "/d");
    EXPECT_EQ(fault(), "");
}

TEST_F(DiskUseTest, AWatchBelievesAShortLookAlsoAfterOneThatWasGood) {
    step::FolderWatch watch(job, 100'000, {.entries = 100, .time = kPatience});
    const auto look = [&] {
        while (std::chrono::steady_clock::now() < watch.next()) {
        }
        return watch.is_over();
    };
    EXPECT_FALSE(look());
    write("large", 200'000);
    EXPECT_TRUE(look()) << "the first look that sees it, of one turn";
}

}  // namespace
}  // namespace zbs::process
