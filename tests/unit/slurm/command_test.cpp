#include "services/zone_scheduler/adapters/slurm/command.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace zbs::slurm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Command shell(const std::string& script) {
    return {.program = "/bin/sh",
            .arguments = {"-c", script},
            .environment = {{"PATH", "/usr/bin:/bin"}},
            .deadline = 60s,
            .max_output = 1 << 20};
}

TEST(Command, GivesBothOutputsAndTheExitCode) {
    Command command = shell("cat; echo on error >&2; exit 7");
    command.input = "what it is fed\n";
    const Result<CommandOutput> output = run(command);
    ASSERT_TRUE(output) << output.error();
    EXPECT_EQ(output->exit_code, 7);
    EXPECT_EQ(output->out, "what it is fed\n");
    EXPECT_EQ(output->error, "on error\n");
}

TEST(Command, ArgumentsAreNotReadByAShellAndTheEnvironmentIsTheGivenOne) {
    setenv("SLURM_STRAY", "stray", 1);
    Command command{.program = "/usr/bin/env",
                    .arguments = {"printf", "[%s]", "$HOME; a  b", "*"},
                    .environment = {{"PATH", "/usr/bin"}},
                    .deadline = 60s,
                    .max_output = 1'000};
    EXPECT_EQ(run(command)->out, "[$HOME; a  b][*]");
    command.arguments.clear();
    EXPECT_EQ(run(command)->out, "PATH=/usr/bin\n");
    unsetenv("SLURM_STRAY");
}

TEST(Command, EndBySignalIsToldAs128AndItsNumber) { EXPECT_EQ(run(shell("kill -9 $$"))->exit_code, 137); }

TEST(Command, WorksWhereTheProcessIgnoresItsChildren) {
    const auto before = signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(run(shell("exit 3"))->exit_code, 3);
    signal(SIGCHLD, before);
}

TEST(Command, ThatGivesNoAnswerIsEndedAtTheDeadlineWithAllItStarted) {
    test::TemporaryFolder folder;
    Command command = shell("echo working on it >&2; sleep 600 & echo $! > " + folder.path("child") + "; echo $$ > " +
                            folder.path("self") + "; wait");
    command.deadline = 2s;
    const Result<CommandOutput> output = run(command);
    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().code, ErrorCode::kTimeout);
    EXPECT_THAT(output.error().message, HasSubstr("working on it"));
    // All are killed by now; a parent that reaps nobody leaves zombies, which kill() finds.
    for (const char* name : {"child", "self"}) {
        const Result<CommandOutput> look = run(
            shell("read pid < " + folder.path(name) + " && ! grep -q '^State:.[^ZX]' /proc/$pid/status 2>/dev/null"));
        EXPECT_EQ(look->exit_code, 0) << name;
    }
}

TEST(Command, ThatPrintsTooMuchIsEnded) {
    Command command = shell("yes");
    command.max_output = 100'000;
    EXPECT_EQ(run(command).error().code, ErrorCode::kTooLarge);
    command = shell("yes >&2");
    command.max_output = 100'000;
    EXPECT_EQ(run(command).error().code, ErrorCode::kTooLarge);
}

TEST(Command, ProgramThatCannotBeRunIsAnErrorWithItsCause) {
    Command command = shell("");
    command.program = "/no/such/program";
    EXPECT_THAT(run(command).error().message, HasSubstr("/no/such/program cannot be run: No such file"));
    command.program = "/etc/passwd";
    EXPECT_THAT(run(command).error().message, HasSubstr("Permission denied"));
}

TEST(Command, InheritsNoDescriptorOfTheService) {
    const int secret = open("/etc/passwd", O_RDONLY);  // on purpose without O_CLOEXEC
    ASSERT_GE(secret, 0);
    EXPECT_EQ(run(shell("ls /proc/$$/fd"))->out, "0\n1\n2\n");
    close(secret);
}

TEST(Command, ManyThreadsEachGetTheirOwnAnswer) {
    std::vector<std::thread> threads;
    std::array<int, 8> wrong{};
    for (std::size_t i = 0; i < wrong.size(); ++i)
        threads.emplace_back([i, &wrong] {
            for (int round = 0; round < 10; ++round) {
                const std::string text = std::to_string(i) + "-" + std::to_string(round);
                const Result<CommandOutput> output = run(shell("echo " + text + "; exit " + std::to_string(i)));
                wrong[i] += !output || output->out != text + "\n" || output->exit_code != static_cast<int>(i);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(wrong, testing::Each(0));
}

TEST(Command, LeavesNoDescriptorOpen) {
    const auto lowest_free = [] {
        const int fd = dup(0);
        close(fd);
        return fd;
    };
    const int before = lowest_free();
    static_cast<void>(run(shell("exit 0")));
    Command late = shell("sleep 600");
    late.deadline = 100ms;
    static_cast<void>(run(late));
    EXPECT_EQ(lowest_free(), before);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // and no child
    EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace zbs::slurm
