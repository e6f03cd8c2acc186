#include "services/common/adapters/process/process_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

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

}  // namespace
}  // namespace zbs::process
