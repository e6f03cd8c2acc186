#include "services/common/adapters/system/program_digest.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace zbs::system {
namespace {

// Of "abc" and of nothing, as FIPS 180-4 has them.
constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct ProgramDigestsTest : testing::Test {
    test::TemporaryFolder folder;
    ProgramDigests digests;

    std::string write(const std::string& name, const std::string& text, mode_t mode = 0755) {
        const std::string path = folder.path(name);
        std::ofstream(path) << text;
        EXPECT_EQ(chmod(path.c_str(), mode), 0);
        return path;
    }
};

TEST_F(ProgramDigestsTest, AreSha256) {
    EXPECT_EQ(digests.of(write("abc", "abc")), kOfAbc);
    EXPECT_EQ(digests.of(write("nothing", "")), kOfNothing);
    EXPECT_EQ(digests.of(folder.path("abc")), kOfAbc) << "remembered";
}

TEST_F(ProgramDigestsTest, FollowTheFileThroughItsChanges) {
    const std::string path = write("program", "old");
    const std::string before = digests.of(path);
    std::filesystem::remove(path);
    write("program", "abc");
    EXPECT_NE(digests.of(path), before);
    EXPECT_EQ(digests.of(path), kOfAbc);
}

TEST_F(ProgramDigestsTest, FollowLinksToPrograms) {
    std::filesystem::create_symlink(write("abc", "abc"), folder.path("link"));
    EXPECT_EQ(digests.of(folder.path("link")), kOfAbc);
}

TEST_F(ProgramDigestsTest, ThereAreNoneOfWhatNotEverybodyMayReadAndExecute) {
    for (const mode_t mode : {0700U, 0750U, 0644U, 0711U, 0751U})
        EXPECT_EQ(digests.of(write("private", "abc", mode)), "") << std::oct << mode;
    EXPECT_EQ(digests.of(write("private", "abc", 0755)), kOfAbc);
    EXPECT_EQ(digests.of(write("private", "abc", 0700)), "") << "also once it was remembered";
}

TEST_F(ProgramDigestsTest, ThereAreNoneOfWhatIsNoPlainFile) {
    EXPECT_EQ(digests.of(folder.path("missing")), "");
    EXPECT_EQ(digests.of("/"), "");
    EXPECT_EQ(digests.of("bin/sh"), "");
    EXPECT_EQ(digests.of(""), "");
    EXPECT_EQ(digests.of(std::string("/bin/sh\0x", 9)), "");
    const std::string pipe = folder.path("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0777), 0);
    EXPECT_EQ(digests.of(pipe), "") << "and nobody waits for a writer";
}

TEST_F(ProgramDigestsTest, ThereAreNoneOfVeryLargeFiles) {
    const std::string path = write("large", "");
    std::filesystem::resize_file(path, ProgramDigests::kMaxBytes + 1);
    EXPECT_EQ(digests.of(path), "");
}

TEST_F(ProgramDigestsTest, RememberOnlyTheNewest) {
    for (std::size_t i = 0; i < 2 * ProgramDigests::kMaxFiles; ++i)
        ASSERT_EQ(digests.of(write("p" + std::to_string(i), "abc")), kOfAbc);
}

}  // namespace
}  // namespace zbs::system
