#include "services/common/adapters/files/file_depot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "services/common/messages/text/checksum.hpp"
#include "tests/support/memory_depot.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {

/// The depot on the disk, and the fake that other tests use.
struct OnDisk {
    TemporaryFolder folder;
    std::unique_ptr<FileDepot> depot = files::open_file_depot(folder.path("files")).value();
    static std::string digest_of(std::string_view bytes) { return sha256(bytes); }
};
struct InMemory {
    std::unique_ptr<FileDepot> depot = std::make_unique<MemoryDepot>();
    static std::string digest_of(std::string_view bytes) { return MemoryDepot::digest_of(bytes); }
};

template <class Kind>
struct FileDepotTest : testing::Test {
    Kind kind;
    FileDepot& depot = *kind.depot;
    Result<FileDepot::File> add(const std::string& name, std::uint64_t size, std::uint64_t offset,
                                std::string_view bytes, std::string_view digest = {}) {
        return depot.append("shelf+a", name, {.size = size, .offset = offset, .bytes = bytes, .digest = digest});
    }
};
using Kinds = testing::Types<OnDisk, InMemory>;
TYPED_TEST_SUITE(FileDepotTest, Kinds);

TYPED_TEST(FileDepotTest, WhatAllWeighIsKnownAtAnyTime) {
    EXPECT_EQ(this->depot.bytes(), 0U);
    ASSERT_TRUE(this->add("x", 6, 0, "abc"));
    EXPECT_EQ(this->depot.bytes(), 3U);
    ASSERT_TRUE(this->add("x", 6, 0, "abcd"));
    EXPECT_EQ(this->depot.bytes(), 4U) << "a repeat adds what is new";
    ASSERT_TRUE(this->add("x", 6, 4, "ef"));
    ASSERT_TRUE(this->add("y", 3, 0, "123", TypeParam::digest_of("123")));
    ASSERT_TRUE(this->add("z", 9, 0, "12345"));
    EXPECT_EQ(this->depot.bytes(), 14U);
    EXPECT_FALSE(this->add("wrong", 3, 0, "123", std::string(64, '0')));
    EXPECT_FALSE(this->add("z", 9, 7, "9"));
    EXPECT_EQ(this->depot.bytes(), 14U) << "what was refused weighs nothing";
    ASSERT_TRUE(this->depot.remove("shelf+a", "y"));
    ASSERT_TRUE(this->depot.remove("shelf+a", "y"));
    EXPECT_EQ(this->depot.bytes(), 11U);
    ASSERT_TRUE(this->depot.remove("shelf+a", "z"));
    EXPECT_EQ(this->depot.bytes(), 6U);
    ASSERT_TRUE(this->depot.remove_shelf("shelf+a"));
    EXPECT_EQ(this->depot.bytes(), 0U);
}

TEST(FileDepot, WeighsWhatIsThereWhenItIsOpened) {
    const TemporaryFolder folder;
    const std::string files = folder.path("files");
    ASSERT_TRUE(
        (*files::open_file_depot(files))->append("a", "x", {.size = 9, .offset = 0, .bytes = "12345", .digest = {}}));
    ASSERT_TRUE(
        (*files::open_file_depot(files))->append("b", "y", {.size = 2, .offset = 0, .bytes = "12", .digest = {}}));
    EXPECT_EQ((*files::open_file_depot(files))->bytes(), 7U);
}

TYPED_TEST(FileDepotTest, PiecesBecomeAFile) {
    EXPECT_FALSE(*this->depot.find("shelf+a", "x"));
    EXPECT_EQ(this->add("x", 6, 0, "abc")->bytes, 3U);
    EXPECT_FALSE((*this->depot.find("shelf+a", "x"))->complete);
    EXPECT_EQ(this->depot.read("shelf+a", "x", 0, 10).error().code, ErrorCode::kNotFound);
    const auto done = this->add("x", 6, 3, "def");
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->complete);
    EXPECT_EQ(done->digest, TypeParam::digest_of("abcdef"));
    EXPECT_EQ(*this->depot.read("shelf+a", "x", 2, 3), "cde");
    EXPECT_EQ(*this->depot.read("shelf+a", "x", 6, 3), "");
    EXPECT_EQ(this->depot.list("shelf+a")->size(), 1U);
    EXPECT_EQ(*this->depot.shelves(), std::vector<std::string>{"shelf+a"});
    ASSERT_TRUE(this->depot.remove("shelf+a", "x"));
    EXPECT_TRUE(this->depot.remove("shelf+a", "x"));
    EXPECT_TRUE(this->depot.list("shelf+a")->empty());
}

TYPED_TEST(FileDepotTest, GapsAndOverlongPiecesAreRefusedAndRepeatsAreNot) {
    EXPECT_EQ(this->add("x", 6, 1, "b").error().code, ErrorCode::kConflict);
    ASSERT_TRUE(this->add("x", 6, 0, "abc"));
    EXPECT_EQ(this->add("x", 6, 0, "ab")->bytes, 3U);
    EXPECT_EQ(this->add("x", 6, 2, "cd")->bytes, 4U);
    EXPECT_EQ(this->add("x", 6, 5, "f").error().code, ErrorCode::kConflict);
    EXPECT_EQ(this->add("x", 6, 4, "efg").error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(this->add("x", 6, 7, "").error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(this->add("x", 6, 4, "ef", TypeParam::digest_of("abcdef"))->complete);
}

TYPED_TEST(FileDepotTest, AnotherChecksumThrowsAllAway) {
    ASSERT_TRUE(this->add("x", 6, 0, "abc", TypeParam::digest_of("abcdef")));
    EXPECT_EQ(this->add("x", 6, 3, "xyz", TypeParam::digest_of("abcdef")).error().code, ErrorCode::kConflict);
    EXPECT_FALSE(*this->depot.find("shelf+a", "x"));
    EXPECT_TRUE(this->add("x", 6, 0, "abcdef", TypeParam::digest_of("abcdef"))->complete);
}

TYPED_TEST(FileDepotTest, AnEmptyFileIsAFile) {
    const auto done = this->add("x", 0, 0, "", TypeParam::digest_of(""));
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->complete);
    EXPECT_EQ(*this->depot.read("shelf+a", "x", 0, 10), "");
}

TYPED_TEST(FileDepotTest, ShelvesGoWithAllThatIsOnThem) {
    ASSERT_TRUE(this->add("x", 1, 0, "a"));
    ASSERT_TRUE(this->add("y", 2, 0, "a"));
    ASSERT_TRUE(this->depot.remove_shelf("shelf+a"));
    EXPECT_TRUE(this->depot.remove_shelf("shelf+a"));
    EXPECT_TRUE(this->depot.shelves()->empty());
}

struct DepotOnDisk : testing::Test {
    OnDisk disk;
    std::string digest = OnDisk::digest_of("abcdef");
    Result<FileDepot::File> add(FileDepot& depot, std::uint64_t offset, std::string_view bytes) {
        return depot.append("s", digest, {.size = 6, .offset = offset, .bytes = bytes, .digest = digest});
    }
    std::string part() const { return disk.folder.path("files") + "/s/." + digest + ".part"; }
};

TEST_F(DepotOnDisk, ARestartGoesOnWhereItStopped) {
    ASSERT_TRUE(add(*disk.depot, 0, "abc"));
    const auto again = files::open_file_depot(disk.folder.path("files")).value();
    EXPECT_EQ((*again->find("s", digest))->bytes, 3U);
    EXPECT_TRUE(add(*again, 3, "def")->complete);
    EXPECT_EQ(OnDisk::digest_of(*again->read("s", digest, 0, 10)), digest);
}

TEST_F(DepotOnDisk, WhatACrashHasDamagedIsFoundByItsChecksum) {
    ASSERT_TRUE(add(*disk.depot, 0, "abc"));
    std::ofstream(part(), std::ios::trunc) << "a\0c";  // NOLINT: as an unwritten block would be
    std::filesystem::resize_file(part(), 3);
    const auto again = files::open_file_depot(disk.folder.path("files")).value();
    EXPECT_EQ(add(*again, 3, "def").error().code, ErrorCode::kConflict);
    EXPECT_TRUE(add(*again, 0, "abcdef")->complete);
}

TEST_F(DepotOnDisk, AFileThatGrowsIsNotReadAgainHoweverManyOthersBegin) {
    ASSERT_TRUE(add(*disk.depot, 0, "abc"));
    for (int i = 0; i < 600; ++i) {
        ASSERT_TRUE(disk.depot->append("t", std::to_string(i), {.size = 9, .offset = 0, .bytes = "x", .digest = {}}));
        ASSERT_TRUE(add(*disk.depot, 0, "abc")) << "a repeat";
    }
    std::ofstream(part(), std::ios::trunc) << "***";  // who read it again would see
    EXPECT_TRUE(add(*disk.depot, 3, "def"));
}

TEST_F(DepotOnDisk, TheSizeOfTheFirstPieceIsKeptOverARestart) {
    ASSERT_TRUE(add(*disk.depot, 0, "abc"));
    const auto again = files::open_file_depot(disk.folder.path("files")).value();
    EXPECT_EQ((*again->find("s", digest))->size, 6U);
    EXPECT_EQ(again->list("s")->front().size, 6U);
    EXPECT_EQ(again->append("s", digest, {.size = 7, .offset = 3, .bytes = "d", .digest = {}}).error().code,
              ErrorCode::kConflict);
    ASSERT_TRUE(again->remove_shelf("s"));
    EXPECT_FALSE(std::filesystem::exists(disk.folder.path("files") + "/s"));
}

TEST_F(DepotOnDisk, TheReserveOfTheDiskIsLeftAlone) {
    const auto full = files::open_file_depot(disk.folder.path("files"), {.bytes = 1ULL << 62, .percent = 0}).value();
    const auto refused = add(*full, 0, "abc");
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    EXPECT_FALSE(*full->find("s", digest));
    const auto all = files::open_file_depot(disk.folder.path("files"), {.bytes = 0, .percent = 100}).value();
    EXPECT_EQ(add(*all, 0, "abc").error().code, ErrorCode::kUnavailable);
}

TEST_F(DepotOnDisk, NobodyElseMayLook) {
    ASSERT_TRUE(add(*disk.depot, 0, "abcdef"));
    for (const std::string& path :
         {disk.folder.path("files"), disk.folder.path("files") + "/s", disk.depot->path("s", digest)}) {
        struct stat info {};
        ASSERT_EQ(stat(path.c_str(), &info), 0) << path;
        EXPECT_EQ(info.st_mode & 0077U, 0U) << path;
    }
}

TEST_F(DepotOnDisk, NoLinkIsFollowed) {
    std::error_code fault;
    std::filesystem::create_directories(disk.folder.path("files") + "/s", fault);
    std::filesystem::create_symlink("/dev/full", part(), fault);
    EXPECT_FALSE(add(*disk.depot, 0, "abc"));
    std::filesystem::remove(part(), fault);
    EXPECT_TRUE(add(*disk.depot, 0, "abcdef")->complete);
}

}  // namespace
}  // namespace zbs::test
