
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "services/common/adapters/process/input_copies.hpp"
#include "tests/unit/process/step_fixture.hpp"

// Steps whose inputs were being copied when the service ended.

namespace zbs::process {
namespace {

StepSpec full_spec() {
    return {.step_id = "op-1",
            .argv = {"/bin/sh", "-c", "", std::string("a\0b", 3)},
            .environment = {{"A", "1"}, {"EMPTY", ""}},
            .directory = "/tmp/x",
            .files = {{"in.txt", "text\nmore"}},
            .inputs = {{.name = "run", .path = "/p/q", .executable = true, .digest = std::string(64, 'a'), .size = 7},
                       {.name = "in.dat", .path = "/p/r"}},
            .account = "ana",
            .shares = {"op-0", "op-1"},
            .walltime = std::chrono::milliseconds{1'500},
            .on_stop = {"/bin/echo", "a b"},
            .folder_bytes = std::uint64_t{1} << 40};
}

TEST(WaitingStep, IsReadAsItWasWritten) {
    for (const StepSpec& spec : {full_spec(), StepSpec{.step_id = "least", .argv = {"/bin/true"}}}) {
        const std::optional<StepSpec> read = decode_waiting(encode_waiting(spec));
        ASSERT_TRUE(read);
        EXPECT_EQ(read->step_id, spec.step_id);
        EXPECT_EQ(read->argv, spec.argv);
        EXPECT_EQ(read->environment, spec.environment);
        EXPECT_EQ(read->directory, spec.directory);
        EXPECT_EQ(read->files, spec.files);
        EXPECT_EQ(read->inputs, spec.inputs);
        EXPECT_EQ(read->account, spec.account);
        EXPECT_EQ(read->shares, spec.shares);
        EXPECT_EQ(read->walltime, spec.walltime);
        EXPECT_EQ(read->on_stop, spec.on_stop);
        EXPECT_EQ(read->folder_bytes, spec.folder_bytes);
    }
}

TEST(WaitingStep, IsNoneWhereAnyPartOfItIsMissingOrTooMuch) {
    const std::string text = encode_waiting(full_spec());
    for (std::size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(decode_waiting(text.substr(0, size))) << size;
    EXPECT_FALSE(decode_waiting(text + "x"));
    StepSpec outside = full_spec();
    outside.shares = {"../other"};
    EXPECT_FALSE(decode_waiting(encode_waiting(outside)));
}

struct WaitingStepTest : StepExecutorTest {
    static constexpr std::uint64_t kLarge = InputCopies::kWorthAThread + 3;
    /// Nobody looks at it before the restart, so it is not launched before.
    void start_and_restart() {
        begin();
        executor.reset();
    }
    void begin() {
        std::ofstream(folder.path("large"), std::ios::binary) << std::string(kLarge, 'x');
        StepSpec spec;
        spec.inputs = {{.name = "in.dat", .path = folder.path("large")}};
        ASSERT_TRUE(start("first", "wc -c < in.dat; ls -A", spec));
    }
    std::string control(const StepId& step_id) { return folder.path("steps/" + step_id); }
    const std::string seen = std::to_string(kLarge) + "\n.zbs-stderr\n.zbs-stdout\nin.dat\n";
};

TEST_F(WaitingStepTest, GoesOnAfterARestartWithThoseThatShareItsFolder) {
    begin();
    StepSpec next;
    next.shares = {"first"};
    ASSERT_TRUE(start("second", "wc -c < " + executor->folder("first") + "/in.dat", next));
    executor.reset();
    std::filesystem::remove(folder.path("large"));  // whoever made room meanwhile
    open();
    EXPECT_EQ(executor->status("second").state, State::kRunning);
    EXPECT_EQ(wait("first").exit_code, 0) << executor->status("first").reason;
    EXPECT_EQ(wait("second").exit_code, 0) << executor->status("second").reason;
    EXPECT_EQ(text("first", ".zbs-stdout"), seen);
    EXPECT_EQ(text("second", ".zbs-stdout"), std::to_string(kLarge) + "\n");
    EXPECT_FALSE(std::filesystem::exists(control("first") + "/waiting"));
    EXPECT_FALSE(std::filesystem::exists(control("second") + "/waiting"));
}

TEST_F(WaitingStepTest, CopiesAgainWhatIsNotWholeAndOnlyThat) {
    start_and_restart();
    const std::string job = control("first") + "/job";
    std::ofstream(job + "/.copying") << "half";
    std::ofstream(job + "/in.dat") << "half";
    open();
    EXPECT_EQ(wait("first").exit_code, 0);
    EXPECT_EQ(text("first", ".zbs-stdout"), seen);

    const test::TemporaryFolder to;
    std::ofstream(to.path("whole")) << "abc";
    const std::vector<StepSpec::Input> inputs = {{.name = "copy", .path = to.path("whole")}};
    std::filesystem::create_directory(to.path("job"));
    ASSERT_TRUE(copy_inputs(inputs, to.path("job"), {.durable = true}));
    struct stat before {
    }, after{};
    ASSERT_EQ(stat(to.path("job/copy").c_str(), &before), 0);
    ASSERT_TRUE(copy_inputs(inputs, to.path("job"), {.durable = true}));
    ASSERT_EQ(stat(to.path("job/copy").c_str(), &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino) << "what is whole stays";
}

TEST_F(WaitingStepTest, ThatWasStoppedMeanwhileNeverBegins) {
    start_and_restart();
    open();
    executor->stop("first", std::chrono::seconds{1});
    const StepStatus end = wait("first");
    EXPECT_EQ(end.exit_code, 143);
    EXPECT_EQ(end.reason, "stopped before it began");
    EXPECT_FALSE(end.is_site_fault);
    EXPECT_FALSE(executor->read("first", ".zbs-stdout", 0, 1));
}

TEST_F(WaitingStepTest, OfADamagedRecordIsNotKnown) {
    start_and_restart();
    std::ofstream(control("first") + "/waiting/step") << "x";
    open();
    EXPECT_EQ(executor->status("first").state, State::kUnknown);
    EXPECT_TRUE(executor->remove("first", 100)->complete);
}

TEST_F(WaitingStepTest, WaitsForASupervisorThatCameLate) {
    start_and_restart();
    const int lock = ::open((control("first") + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(flock(lock, LOCK_EX), 0);
    open();
    for (int look = 0; look < 3; ++look) {  // copies, tries, and tries again
        ASSERT_TRUE(eventually([&] { return !std::filesystem::exists(control("first") + "/job/.copying"); }));
        EXPECT_EQ(executor->status("first").state, State::kRunning);
    }
    EXPECT_FALSE(std::filesystem::exists(control("first") + "/exit"));
    close(lock);
    EXPECT_EQ(wait("first").exit_code, 0) << executor->status("first").reason;
}

}  // namespace
}  // namespace zbs::process
