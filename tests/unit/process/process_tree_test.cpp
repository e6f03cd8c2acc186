#include "services/common/adapters/process/process_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "services/common/adapters/process/step_executor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::process {
namespace {

TEST(ProcessRef, IsThisProcessAndNoLaterOneOfItsNumber) {
    const auto self = find_process(getpid());
    ASSERT_TRUE(self);
    EXPECT_TRUE(is_alive(*self));
    EXPECT_FALSE(is_alive({self->pid, self->start_time + 1}));
    EXPECT_FALSE(send_signal({self->pid, self->start_time + 1}, SIGKILL)) << "this test would not go on";
    EXPECT_TRUE(send_signal(*self, 0));
    EXPECT_FALSE(find_process(0));
    EXPECT_FALSE(is_alive({}));
}

TEST(ProcessRef, AZombieIsGone) {
    signal(SIGCHLD, SIG_DFL);  // a step executor made earlier in this program ignores it
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        _exit(read(gate[0], &byte, 1) == 1 ? 0 : 1);
    }
    const auto process = find_process(child);
    ASSERT_TRUE(process);
    ASSERT_EQ(write(gate[1], "x", 1), 1);
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_FALSE(is_alive(*process)) << "ended, not yet reaped";
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(send_signal(*process, 0));
    close(gate[0]);
    close(gate[1]);
}

TEST(StepVariable, IsAPlainName) { EXPECT_EQ(step_variable("run-01J-p0"), "ZBS_STEP_run_01J_p0"); }

TEST(FindMarked, FindsDescendantsWhateverTheirEnvironment) {
    signal(SIGCHLD, SIG_DFL);
    int gate[2], ready[2];
    ASSERT_EQ(pipe(gate) | pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const pid_t grandchild = fork();
        close(gate[1]);
        char byte = 0;
        if (grandchild == 0 && write(ready[1], "x", 1) != 1) _exit(1);
        _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_EQ(find_marked("ZBS_STEP_nobody_has_this", child).size(), 1U);
    EXPECT_EQ(find_marked("ZBS_STEP_nobody_has_this", getpid()).size(), 2U);
    EXPECT_EQ(find_marked("ZBS_STEP_nobody_has_this", 0).size(), 0U);
    for (const int fd : {gate[0], gate[1], ready[0], ready[1]}) close(fd);
    waitpid(child, nullptr, 0);
}

TEST(Files, AreWrittenWholeAndReadBounded) {
    const test::TemporaryFolder folder;
    EXPECT_FALSE(read_file(folder.path("none")));
    EXPECT_TRUE(write_file(folder.path("f"), "first"));
    EXPECT_TRUE(write_file(folder.path("f"), "2"));
    EXPECT_EQ(read_file(folder.path("f")), "2");
    EXPECT_FALSE(std::filesystem::exists(folder.path("f.new")));
    EXPECT_TRUE(write_file(folder.path("g"), std::string(100'000, 'g')));
    EXPECT_EQ(read_file(folder.path("g"))->size(), 64U * 1024);
    EXPECT_EQ(read_file(folder.path("g"), 10), std::string(10, 'g'));
    EXPECT_FALSE(write_file(folder.path("no/folder"), "x"));
    std::filesystem::create_symlink(folder.path("g"), folder.path("h.new"));
    EXPECT_FALSE(write_file(folder.path("h"), "x")) << "a planted link would have been written through";
}

/// What a child says, run as user nobody where /proc is mounted so; nothing where that is not to be had here.
std::optional<std::string> said_below_proc(const char* option, const std::function<std::string()>& what) {
    signal(SIGCHLD, SIG_DFL);
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        constexpr uid_t kNobody = 65'534;
        const bool mounted =
            unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            mount("proc", "/proc", "proc", 0, option) == 0 && setgid(kNobody) == 0 && setuid(kNobody) == 0;
        const std::string text = mounted ? "+" + what() : "-";
        static_cast<void>(!write(ends[1], text.data(), text.size()));
        _exit(0);
    }
    close(ends[1]);
    std::string text;
    char chunk[512];
    for (ssize_t got; (got = read(ends[0], chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<std::size_t>(got));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    if (!text.starts_with('+')) return std::nullopt;
    return text.substr(1);
}

TEST(ClosedProcesses, AreNotSeenWhereProcHidesThemAndAnExecutorIsNotMade) {
    EXPECT_TRUE(sees_closed_processes()) << "here the other tests find theirs";
    if (geteuid() != 0) GTEST_SKIP() << "needs root: to mount /proc with hidepid";
    const test::TemporaryFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    const auto seen = [] { return std::string(sees_closed_processes() ? "seen" : "hidden"); };
    const auto open_proc = said_below_proc("hidepid=off", seen);
    if (!open_proc) GTEST_SKIP() << "needs to mount /proc";
    EXPECT_EQ(*open_proc, "seen");
    EXPECT_EQ(said_below_proc("hidepid=invisible", seen), "hidden");
    EXPECT_EQ(said_below_proc("hidepid=noaccess", seen), "hidden");
    const auto made = said_below_proc("hidepid=invisible", [&] {
        const auto executor = make_step_executor({.folder = folder.path("steps"), .supervisor = "/bin/true"});
        return executor ? std::string("made") : executor.error().message;
    });
    ASSERT_TRUE(made);
    EXPECT_THAT(*made, testing::AllOf(testing::HasSubstr("/proc is mounted with hidepid"), testing::HasSubstr("gid=")));
}

}  // namespace
}  // namespace zbs::process
