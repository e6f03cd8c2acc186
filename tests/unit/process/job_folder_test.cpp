#include "services/common/adapters/process/job_folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tests/support/temporary_folder.hpp"

// What a hostile job can put into its folder. A test that hangs here has found something.

namespace zbs::process {
namespace {
namespace fs = std::filesystem;

class JobFolder : public testing::Test {
  protected:
    JobFolder() : job(folder.path("job")) {
        fs::create_directory(job);
        std::ofstream(folder.path("secret")) << "secret";
    }
    ErrorCode error_of(const std::string& file) {
        const auto read = read_job_file(job, file, 0, 100);
        return read ? ErrorCode::kInternal : read.error().code;
    }
    bool is_listed(const std::string& file) {
        for (const StepFiles::File& found : list_job_files(job, ""))
            if (found.name == file) return true;
        return false;
    }
    test::TemporaryFolder folder;
    std::string job;
};

TEST_F(JobFolder, APlainFileIsReadAndListed) {
    std::ofstream(job + "/plain") << "text";
    EXPECT_EQ(*read_job_file(job, "plain", 1, 2), "ex");
    EXPECT_TRUE(is_listed("plain"));
}

TEST_F(JobFolder, LinksAreNotFollowed) {
    fs::create_symlink("../secret", job + "/link");
    fs::create_symlink("/dev/zero", job + "/zeros");
    fs::create_symlink("link", job + "/chain");
    for (const char* name : {"link", "zeros", "chain"}) {
        EXPECT_EQ(error_of(name), ErrorCode::kNotFound) << name;
        EXPECT_FALSE(is_listed(name));
    }
}

TEST_F(JobFolder, AFifoDoesNotMakeTheReaderWait) {
    ASSERT_EQ(mkfifo((job + "/fifo").c_str(), 0600), 0);
    EXPECT_EQ(error_of("fifo"), ErrorCode::kNotFound);
    EXPECT_FALSE(is_listed("fifo"));
}

TEST_F(JobFolder, AFolderIsNoFile) {
    fs::create_directory(job + "/inner");
    EXPECT_EQ(error_of("inner"), ErrorCode::kNotFound);
    EXPECT_FALSE(is_listed("inner"));
}

TEST_F(JobFolder, ALeaseDoesNotMakeTheReaderWait) {
    std::ofstream(job + "/leased") << "text";
    signal(SIGIO, SIG_IGN);
    const int fd = open((job + "/leased").c_str(), O_RDWR);
    ASSERT_EQ(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
    EXPECT_EQ(error_of("leased"), ErrorCode::kUnavailable);
    close(fd);
    EXPECT_EQ(*read_job_file(job, "leased", 0, 100), "text");
}

TEST_F(JobFolder, AHugeFileCostsNoMoreThanTheLimit) {
    std::ofstream(job + "/huge") << "begin";
    fs::resize_file(job + "/huge", 1ULL << 40U);
    EXPECT_EQ(read_job_file(job, "huge", 0, 5).value(), "begin");
    EXPECT_EQ(read_job_file(job, "huge", 1ULL << 39U, 4'096)->size(), 4'096U);
    std::ofstream(job + "/small") << "small";
    EXPECT_EQ(*read_job_file(job, "small", 0, SIZE_MAX), "small") << "a limit is not what is made room for";
}

TEST_F(JobFolder, AnothersFileIsNotHandedOut) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: a file of another user";
    std::ofstream(job + "/theirs") << "secret";  // as after a hard link to it
    ASSERT_EQ(chown((job + "/theirs").c_str(), 65'534, 65'534), 0);
    EXPECT_EQ(error_of("theirs"), ErrorCode::kNotFound);
    EXPECT_FALSE(is_listed("theirs"));
}

TEST_F(JobFolder, ALinkInPlaceOfTheFolderIsNotFollowed) {
    fs::create_symlink(folder.path(), folder.path("moved"));
    EXPECT_FALSE(read_job_file(folder.path("moved"), "secret", 0, 100));
    EXPECT_TRUE(list_job_files(folder.path("moved"), "").empty());
}

TEST_F(JobFolder, NamesThatAreNotPlainAreNotListed) {
    for (const char* name : {"new\nline", "\033[31m", ".hidden", "sp ace", "\xC3\xA4"}) {
        std::ofstream(job + "/" + name) << "x";
        EXPECT_FALSE(is_listed(name)) << name;
        EXPECT_FALSE(is_plain_name(name)) << name;
    }
    std::ofstream(job + "/.zbs-out.0") << "x";
    EXPECT_TRUE(is_listed(".zbs-out.0")) << "the zone's own";
}

TEST_F(JobFolder, AllThatIsInItIsListedAndWhatCannotBeReadHasAFault) {
    fs::create_directories(job + "/out/a b");
    std::ofstream(job + "/out/a b/\xc3\xbc.dat") << "deep";
    std::ofstream(job + "/caf\xe9") << "x";
    std::ofstream(job + "/new\nline") << "x";
    fs::create_symlink("/", job + "/out/root");
    fs::create_symlink("out", job + "/latest");
    fs::create_symlink("fifo", job + "/other");
    fs::create_symlink("nowhere", job + "/broken");
    ASSERT_EQ(mkfifo((job + "/fifo").c_str(), 0600), 0);
    std::map<std::string, std::string> found;
    for (const StepFiles::File& file : list_job_tree(job)) found[file.name] = file.fault;
    EXPECT_THAT(found, testing::UnorderedElementsAre(
                           testing::Pair("broken", testing::HasSubstr("is a link")),
                           testing::Pair("latest/*", testing::HasSubstr("is a link")),
                           testing::Pair("caf\\xe9", "must be UTF-8"), testing::Pair("fifo", "is no regular file"),
                           testing::Pair("new\\x0aline", "must be without control characters"),
                           testing::Pair("out", testing::HasSubstr("is a folder")),
                           testing::Pair("out/a b", testing::HasSubstr("is a folder")),
                           testing::Pair("out/a b/\xc3\xbc.dat", ""),
                           testing::Pair("out/root/*", testing::HasSubstr("is a link")),
                           testing::Pair("other", testing::HasSubstr("is a link"))));
    EXPECT_EQ(*read_job_file(job, "out/a b/\xc3\xbc.dat", 1, 2), "ee");
}

TEST_F(JobFolder, OfTheModeOnlyTheOwnersRightToExecuteIsListed) {
    for (const char* name : {"plain", "run"}) std::ofstream(job + "/" + name) << "x";
    fs::permissions(job + "/plain", fs::perms::owner_read | fs::perms::group_exec | fs::perms::others_exec);
    fs::permissions(job + "/run", fs::perms::owner_all);
    fs::create_directory(job + "/folder");
    std::map<std::string, bool> found;
    for (const StepFiles::File& file : list_job_tree(job)) found[file.name] = file.executable;
    EXPECT_EQ(found, (std::map<std::string, bool>{{"plain", false}, {"run", true}, {"folder", false}}));
}

TEST_F(JobFolder, AFolderThatCannotBeOpenedIsListedAsSuch) {
    EXPECT_TRUE(list_job_tree(folder.path("none")).empty()) << "there is nothing to list";
    fs::create_symlink(job, folder.path("moved"));
    const std::vector<StepFiles::File> moved = list_job_tree(folder.path("moved"));
    ASSERT_EQ(moved.size(), 1U);
    EXPECT_EQ(moved[0].name, "*");
    EXPECT_THAT(moved[0].fault, testing::HasSubstr("cannot be opened"));
    if (geteuid() == 0) GTEST_SKIP() << "root may open all folders";
    fs::permissions(job, fs::perms::none);
    const std::vector<StepFiles::File> closed = list_job_tree(job);
    fs::permissions(job, fs::perms::owner_all);
    ASSERT_EQ(closed.size(), 1U);
    EXPECT_EQ(closed[0].name, "*");
}

TEST_F(JobFolder, NoLinkLeadsOutOfAFolderInIt) {
    fs::create_directory(job + "/out");
    fs::create_symlink("..", job + "/out/up");
    fs::create_symlink(folder.path(), job + "/away");
    std::ofstream(job + "/mine") << "x";
    for (const char* name : {"away/secret", "out/up/mine", "out/up/../secret", "mine/x", "none/x"}) {
        EXPECT_EQ(error_of(name), ErrorCode::kNotFound) << name;
        EXPECT_TRUE(remove_job_files(job, {name})) << name;
    }
    EXPECT_TRUE(fs::exists(folder.path("secret")));
    EXPECT_TRUE(fs::exists(job + "/mine"));
    std::ofstream(job + "/out/x y") << "x";
    EXPECT_TRUE(remove_job_files(job, {"out/x y"}));
    EXPECT_FALSE(fs::exists(job + "/out/x y"));
}

/// Rounds until nothing is left; 0 where that does not happen.
int remove_in_rounds(const std::string& path, std::size_t at_most) {
    for (int round = 1; round < 100; ++round) {
        const auto removal = remove_job_tree(path, at_most, "exit");
        EXPECT_TRUE(removal) << removal.error();
        if (!removal) return 0;
        EXPECT_LE(removal->files, at_most + 1);
        if (removal->complete) return round;
    }
    return 0;
}

TEST_F(JobFolder, IsRemovedAFewFilesAtATimeAndTheNamedOneLast) {
    for (int i = 0; i < 25; ++i) std::ofstream(job + "/out." + std::to_string(i)) << "text";
    std::ofstream(job + "/exit") << "0";
    const auto first = remove_job_tree(job, 10, "exit");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->files, 10U);
    EXPECT_FALSE(first->complete);
    EXPECT_TRUE(fs::exists(job + "/exit"));
    EXPECT_EQ(remove_in_rounds(job, 10), 2);
    EXPECT_FALSE(fs::exists(job));
    EXPECT_TRUE(remove_job_tree(job, 10, "exit")->complete) << "nothing is left to do";
}

TEST_F(JobFolder, WhatItLinksToStays) {
    fs::create_directory(folder.path("other"));
    std::ofstream(folder.path("other") + "/kept") << "text";
    fs::create_directory_symlink(folder.path("other"), job + "/link");
    fs::create_symlink(folder.path("secret"), job + "/exit");
    fs::create_hard_link(folder.path("secret"), job + "/hard");
    EXPECT_EQ(remove_in_rounds(job, 100), 1);
    EXPECT_TRUE(fs::exists(folder.path("other") + "/kept"));
    EXPECT_TRUE(fs::exists(folder.path("secret")));
}

TEST_F(JobFolder, IsRemovedHoweverDeepAndWithoutRightsItsFoldersAre) {
    std::string deep = job;
    for (int i = 0; i < 300; ++i) fs::create_directory(deep += "/d");
    std::ofstream(deep + "/file") << "text";
    fs::create_directories(job + "/closed/inside");
    chmod((job + "/closed").c_str(), 0);
    mkfifo((job + "/fifo").c_str(), 0600);
    EXPECT_GT(remove_in_rounds(job, 100), 0);
    EXPECT_FALSE(fs::exists(job));
}

}  // namespace
}  // namespace zbs::process
