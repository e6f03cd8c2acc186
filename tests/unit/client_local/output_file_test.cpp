#include "client/cli/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace zbs::cli {
namespace {

namespace fs = std::filesystem;

class WriteFileTest : public testing::Test {
  protected:
    void put(const std::string& name, const std::string& content) { std::ofstream(at(name)) << content; }
    std::string content(const std::string& name) {
        std::ifstream in(at(name));
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string at(const std::string& name) { return temporary.path(name); }
    std::size_t entries() {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(fs::path(at("x")).parent_path()), fs::directory_iterator{}));
    }
    static unsigned mode_of(const std::string& path) {
        struct stat found {};
        return lstat(path.c_str(), &found) == 0 ? found.st_mode : 0U;
    }

    test::TemporaryFolder temporary;
};

TEST_F(WriteFileTest, ANewFileHasTheModeThatThePersonWants) {
    const mode_t before = umask(027);
    EXPECT_TRUE(write_file(at("new"), "text"));
    umask(before);
    EXPECT_EQ(content("new"), "text");
    EXPECT_EQ(mode_of(at("new")) & 0777U, 0640U);
    EXPECT_EQ(entries(), 1U) << "no draft stays";
}

TEST_F(WriteFileTest, AnOlderFileKeepsItsMode) {
    put("kept", "old");
    chmod(at("kept").c_str(), 0600);
    ASSERT_TRUE(write_file(at("kept"), "new"));
    EXPECT_EQ(content("kept"), "new");
    EXPECT_EQ(mode_of(at("kept")) & 0777U, 0600U);
}

TEST_F(WriteFileTest, ALinkStaysOneAndItsTargetIsWritten) {
    fs::create_directory(at("folder"));
    put("folder/target", "old");
    fs::create_symlink("folder/second", at("first"));
    fs::create_symlink("target", at("folder/second"));
    ASSERT_TRUE(write_file(at("first"), "new"));
    EXPECT_TRUE(fs::is_symlink(at("first")));
    EXPECT_TRUE(fs::is_symlink(at("folder/second")));
    EXPECT_EQ(content("folder/target"), "new");
    fs::create_symlink("not-yet", at("dangling"));
    ASSERT_TRUE(write_file(at("dangling"), "made"));
    EXPECT_TRUE(fs::is_symlink(at("dangling")));
    EXPECT_EQ(content("not-yet"), "made");
}

TEST_F(WriteFileTest, LinksThatGoRoundAreAFault) {
    fs::create_symlink("b", at("a"));
    fs::create_symlink("a", at("b"));
    const auto done = write_file(at("a"), "x");
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("Too many levels"), std::string::npos) << done.error();
}

TEST_F(WriteFileTest, APipeIsWrittenInPlace) {
    ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = content("pipe"); });
    EXPECT_TRUE(write_file(at("pipe"), "text"));
    reader.join();
    EXPECT_EQ(got, "text");
    EXPECT_TRUE(S_ISFIFO(mode_of(at("pipe"))));
}

TEST_F(WriteFileTest, APathOfAnOpenDescriptorIsWrittenThere) {
    const int descriptor = open(at("open").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(descriptor, 0);
    ASSERT_EQ(write(descriptor, "before ", 7), 7);
    EXPECT_TRUE(write_file("/dev/fd/" + std::to_string(descriptor), "text"));
    ASSERT_EQ(write(descriptor, " after", 6), 6);
    close(descriptor);
    EXPECT_EQ(content("open"), "before text after");
}

TEST_F(WriteFileTest, AFaultNamesThePathAndLeavesWhatWasThere) {
    const auto nowhere = write_file(at("none/file"), "x");
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code, ErrorCode::kInternal);
    EXPECT_EQ(nowhere.error().pointer, at("none/file"));
    EXPECT_EQ(nowhere.error().message, "cannot be written: No such file or directory");
    fs::create_directory(at("folder"));
    const auto folder = write_file(at("folder"), "x");
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().message, "cannot be written: Is a directory");
    EXPECT_EQ(entries(), 1U);
}

TEST_F(WriteFileTest, OutputsOfOneFileAreRefusedHoweverTheyAreNamed) {
    put("log", "jobs");
    fs::create_symlink("log", at("link"));
    fs::create_hard_link(at("log"), at("hard"));
    fs::create_directory(at("folder"));
    fs::create_directory_symlink("folder", at("other"));
    fs::create_symlink("not-there-yet", at("early"));
    const auto why = [](const std::string& a, const std::string& b, const std::string& input = "") {
        const Result<void> good = check_outputs({{"--a", a}, {"--b", b}}, {{"--input", input}});
        return good ? std::string{} : good.error().pointer + ": " + good.error().message;
    };
    const std::string both = "--b: would write the same file as --a", over = "--b: would overwrite the file of --input";
    EXPECT_EQ(why(at("log"), at("link")), both);
    EXPECT_EQ(why(at("hard"), at("link")), both);
    EXPECT_EQ(why(at("folder/new"), at("other/new")), both);
    EXPECT_EQ(why(at("folder/new"), at("folder/../other/./new")), both);
    EXPECT_EQ(why(at("early"), at("not-there-yet")), both);
    EXPECT_EQ(why("-", "/dev/stdout"), both);
    EXPECT_EQ(why(at("new"), at("hard"), at("link")), over);
    EXPECT_EQ(why(at("folder/new"), at("other/newer"), at("log")), "");
    EXPECT_EQ(why("", "", at("log")), "");
    EXPECT_EQ(why("/dev/null", "/dev/null"), "");
    EXPECT_EQ(why("-", at("new"), "-"), "") << "standard input is not standard output";
    EXPECT_EQ(content("log"), "jobs");
}

}  // namespace
}  // namespace zbs::cli
