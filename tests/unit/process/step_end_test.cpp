// How a step ends: in time, whole, and so that it is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "services/node_agent/step/exit_record.hpp"
#include "services/node_agent/step/tree_end.hpp"
#include "tests/unit/process/step_fixture.hpp"

namespace zbs::process {
namespace {

using testing::HasSubstr;

constexpr const char* kDeaf = "trap '' TERM; echo ready; while :; do sleep 0.05; done";

struct StepEndTest : StepExecutorTest {
    /// A program of this process's own; itself.
    static ProcessRef spawn(std::vector<std::string> words) {
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        char* const nothing[] = {nullptr};
        pid_t pid = 0;
        EXPECT_EQ(posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), nothing), 0) << words[0];
        return find_process(pid).value_or(ProcessRef{});
    }
};

TEST_F(StepEndTest, WhatDoesNotListenIsKilledWhenTheGraceIsOverAndNotLater) {
    auto least = SteadyClock::duration::max();
    for (const StepId& step_id : std::initializer_list<StepId>{"a", "b", "c"}) {
        ASSERT_TRUE(start(step_id, kDeaf));
        ASSERT_TRUE(wait_for_text(step_id, ".zbs-stdout", "ready"));
        const auto begin = SteadyClock::now();
        executor->stop(step_id, 210ms);
        EXPECT_EQ(wait(step_id).exit_code, 137);
        least = std::min(least, SteadyClock::now() - begin);
    }
    EXPECT_GE(least, 210ms);
    EXPECT_LT(least, 360ms) << "the best of three";
}

TEST_F(StepEndTest, WithoutAGraceOfItsOwnATreeIsGoneWithinTwoSeconds) {
    ASSERT_TRUE(start("deaf", kDeaf));
    ASSERT_TRUE(wait_for_text("deaf", ".zbs-stdout", "ready"));
    const auto begin = SteadyClock::now();
    ASSERT_TRUE(send_signal(*supervisor_of("deaf"), SIGTERM));
    EXPECT_EQ(wait("deaf").exit_code, 137);
    EXPECT_LT(SteadyClock::now() - begin, 2s);
    EXPECT_EQ(alive("deaf"), 0U);
}

/// Counts the signals that a shell gets, and ends when a file is there.
constexpr const char* kCounts =
    "trap 'echo TERM >> signals' TERM; echo ready > up; until [ -e save ]; do sleep 0.02; done; echo saved >> signals";

TEST_F(StepEndTest, EachProcessOfAStopGetsOneSignalHoweverOftenItIsAsked) {
    ASSERT_TRUE(start("asked", kCounts));
    ASSERT_TRUE(wait_for_text("asked", "up", "ready"));
    executor->stop("asked", 20s);
    ASSERT_TRUE(wait_for_text("asked", "signals", "TERM"));
    open();  // the service was killed, and asks again
    executor->stop("asked", 20s);
    const auto begin = SteadyClock::now();
    ASSERT_TRUE(executor->status("asked").state == State::kRunning);
    std::this_thread::sleep_for(300ms);  // as long as a second signal would take
    ASSERT_TRUE(write_file(folder.path("steps/asked/job/save"), ""));
    EXPECT_EQ(wait("asked").exit_code, 0);
    EXPECT_EQ(text("asked", "signals"), "TERM\nsaved\n");
    EXPECT_LT(SteadyClock::now() - begin, 5s) << "it has ended by itself";
}

TEST_F(StepEndTest, AProcessThatIsForkedDuringAStopGetsTheSignal) {
    ASSERT_TRUE(start("forks", "echo ready; i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done; wait"));
    ASSERT_TRUE(wait_for_text("forks", ".zbs-stdout", "ready"));
    const auto begin = SteadyClock::now();
    executor->stop("forks", 30s);
    EXPECT_EQ(wait("forks").exit_code, 143);
    EXPECT_LT(SteadyClock::now() - begin, 15s) << "a process has waited for the end of the grace";
}

TEST_F(StepEndTest, AtTheWalltimeThereIsOneSignalAndThenTheGrace) {
    ASSERT_TRUE(start("late", kCounts, {.walltime = 1s, .grace = 20s}));
    ASSERT_TRUE(wait_for_text("late", "signals", "TERM"));
    std::this_thread::sleep_for(300ms);
    ASSERT_TRUE(write_file(folder.path("steps/late/job/save"), ""));
    const StepStatus end = wait("late");
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(end.reason, "walltime of 1 s reached");
    EXPECT_EQ(text("late", "signals"), "TERM\nsaved\n");
}

/// As a launcher's proxy whose rank has ended: it waits for the end of the output, which a process holds open.
TEST_F(StepEndTest, TheReasonAtTheWalltimeNamesAProcessThatWasLeftBehind) {
    ASSERT_TRUE(start("left",
                      "exec /bin/bash -c 'exec 5< <(sleep 1000 & echo $!); read -u 5 pid; echo $pid; read -u 5'",
                      {.walltime = 1s, .grace = 1s}));
    ASSERT_TRUE(wait_for_text("left", ".zbs-stdout", "\n"));
    EXPECT_THAT(wait("left").reason,
                testing::MatchesRegex("walltime of 1 s reached: the program had ended, but process [0-9]+ \\(sleep\\) "
                                      "that it left behind had not"));
}

TEST_F(StepEndTest, WhatRanksLeftBehindKeepsTheirLauncherForSecondsOnly) {
    const StepSpec launcher{.walltime = 60s, .is_launcher = true};
    const auto leave = [](const std::string& trap) {
        return "exec /bin/bash -c 'exec 5< <(" + trap +
               "sleep 1000 & echo $!); read -u 5 pid; echo $pid; read -u 5; exit 7'";
    };
    ASSERT_TRUE(start("left", leave(""), launcher));
    ASSERT_TRUE(start("deaf", leave("trap \"\" TERM; "), launcher));
    ASSERT_TRUE(start("both", "(sleep 1000 & echo $! >pid); sleep 5; kill -0 $(cat pid) && exit 7", launcher));
    for (const StepId& step_id : std::initializer_list<StepId>{"left", "deaf"}) {
        const StepStatus end = wait(step_id);
        EXPECT_EQ(end.exit_code, 7) << "the launcher ends by itself";
        EXPECT_THAT(end.reason,
                    testing::MatchesRegex("process [0-9]+ \\(sleep\\) that the program left behind was ended"));
    }
    EXPECT_EQ(wait("both").exit_code, 7) << "another rank goes on";
}

TEST_F(StepEndTest, TheReasonAtTheWalltimeNamesNoProcessOfAProgramThatGoesOn) {
    ASSERT_TRUE(start("both", "(sleep 1000 &); sleep 999 & echo ready; wait", {.walltime = 1s, .grace = 1s}));
    EXPECT_EQ(wait("both").reason, "walltime of 1 s reached");
    ASSERT_TRUE(start("alone", "exec sleep 1000", {.walltime = 1s, .grace = 1s}));
    EXPECT_EQ(wait("alone").reason, "walltime of 1 s reached");
}

TEST_F(StepEndTest, TheGraceAtTheWalltimeIsTheOneAskedFor) {
    ASSERT_TRUE(start("deaf", kDeaf, {.walltime = 1s, .grace = 1500ms}));
    const auto begin = SteadyClock::now();
    EXPECT_EQ(wait("deaf").exit_code, 137);
    EXPECT_GE(SteadyClock::now() - begin, 2300ms);
}

TEST_F(StepEndTest, ALaterStopBringsTheEndNearer) {
    ASSERT_TRUE(start("deaf", kDeaf));
    ASSERT_TRUE(wait_for_text("deaf", ".zbs-stdout", "ready"));
    executor->stop("deaf", 60s);
    executor->stop("deaf", 200ms);
    EXPECT_EQ(wait("deaf").exit_code, 137);
}

/// It would end what it launched at once.
TEST_F(StepEndTest, ALauncherGetsNoSignalAndEndsWithWhatItLaunched) {
    const std::string launcher =
        std::string("trap 'echo launcher >> signals' TERM; sh -c \"") + kCounts + "\" & wait $!; echo over >> signals";
    ASSERT_TRUE(start("launcher", launcher, {.is_launcher = true}));
    ASSERT_TRUE(wait_for_text("launcher", "up", "ready"));
    executor->stop("launcher", 20s);
    ASSERT_TRUE(wait_for_text("launcher", "signals", "TERM"));
    std::this_thread::sleep_for(300ms);
    ASSERT_TRUE(write_file(folder.path("steps/launcher/job/save"), ""));
    EXPECT_EQ(wait("launcher").exit_code, 0);
    EXPECT_EQ(text("launcher", "signals"), "TERM\nsaved\nover\n");
}

TEST_F(StepEndTest, ALauncherThatLaunchesNothingIsNotWaitedFor) {
    ASSERT_TRUE(start("idle", "echo ready; exec sleep 60", {.is_launcher = true}));
    ASSERT_TRUE(wait_for_text("idle", ".zbs-stdout", "ready"));
    const auto begin = SteadyClock::now();
    executor->stop("idle", 30s);
    EXPECT_EQ(wait("idle").exit_code, 137);
    EXPECT_LT(SteadyClock::now() - begin, 5s);
}

/// As srun, which ends its tasks on other hosts when it gets a signal.
TEST_F(StepEndTest, ACommandAnnouncesTheStopToAProgramThatGetsItsSignalAfterTheGrace) {
    const std::string asked = folder.path("asked");
    ASSERT_TRUE(start("elsewhere",
                      "trap 'echo TERM >> signals; exit 7' TERM; echo ready > up; while :; do sleep 0.02; done",
                      {.on_stop = {"/bin/sh", "-c", "echo asked >> " + asked + "; exec sleep 600"}}));
    ASSERT_TRUE(wait_for_text("elsewhere", "up", "ready"));
    const auto begin = SteadyClock::now();
    executor->stop("elsewhere", 900ms);
    executor->stop("elsewhere", 1s);
    EXPECT_EQ(wait("elsewhere").exit_code, 7);
    EXPECT_GE(SteadyClock::now() - begin, 900ms);
    EXPECT_LT(SteadyClock::now() - begin, 4s) << "it has waited for the command";
    EXPECT_EQ(read_file(asked), "asked\n");
    EXPECT_EQ(text("elsewhere", "signals"), "TERM\n");
}

TEST_F(StepEndTest, AProgramThatEndsInTheGraceDoesNotWaitForACommandThatHangs) {
    ASSERT_TRUE(start("saves", "echo ready > up; until [ -e save ]; do sleep 0.02; done; exit 3",
                      {.on_stop = {"/bin/sh", "-c", "sleep 600"}}));
    ASSERT_TRUE(wait_for_text("saves", "up", "ready"));
    executor->stop("saves", 60s);
    ASSERT_TRUE(write_file(folder.path("steps/saves/job/save"), ""));
    EXPECT_EQ(wait("saves").exit_code, 3);
}

/// As Slurm's daemon on a node does it; the supervisor of the step is on another host.
constexpr const char* kLaunchesOnANode =
    "(until [ -e stop ]; do sleep 0.02; done; while kill -URG $$; do sleep 0.02; done) & "
    "exec '" ZBS_STEP "' launcher node ";

TEST_F(StepEndTest, OnANodeALauncherGetsNoSignalAndWhatItLaunchedGetsOne) {
    const std::string launcher =
        "trap 'echo launcher >> signals' TERM; /bin/sh ./counts & wait $!; echo over >> signals; exit 4";
    ASSERT_TRUE(start("node", std::string(kLaunchesOnANode) + "/bin/sh ./launcher",
                      {.files = {{"launcher", launcher}, {"counts", kCounts}}}));
    ASSERT_TRUE(wait_for_text("node", "up", "ready"));
    ASSERT_TRUE(write_file(folder.path("steps/node/job/stop"), ""));
    ASSERT_TRUE(wait_for_text("node", "signals", "TERM"));
    std::this_thread::sleep_for(300ms);
    ASSERT_TRUE(write_file(folder.path("steps/node/job/save"), ""));
    EXPECT_EQ(wait("node").exit_code, 4);
    EXPECT_EQ(text("node", "signals"), "TERM\nsaved\nover\n");
}

TEST_F(StepEndTest, OnANodeALauncherThatLaunchesNothingIsNotWaitedFor) {
    ASSERT_TRUE(start("node", std::string("echo ready > up; ") + kLaunchesOnANode + "sleep 60"));
    ASSERT_TRUE(wait_for_text("node", "up", "ready"));
    ASSERT_TRUE(write_file(folder.path("steps/node/job/stop"), ""));
    EXPECT_EQ(wait("node").exit_code, 137);
}

TEST_F(StepEndTest, WhatAProgramLeavesInAStopHasTheRestOfItsTime) {
    ASSERT_TRUE(start("leaves", std::string("sh -c \"") + kCounts + "\" & wait"));
    ASSERT_TRUE(wait_for_text("leaves", "up", "ready"));
    executor->stop("leaves", 20s);  // ends the first shell
    ASSERT_TRUE(wait_for_text("leaves", "signals", "TERM"));
    std::this_thread::sleep_for(1s);  // longer than what is left of a step has otherwise
    ASSERT_TRUE(write_file(folder.path("steps/leaves/job/save"), ""));
    EXPECT_EQ(wait("leaves").exit_code, 143);
    EXPECT_EQ(text("leaves", "signals"), "TERM\nsaved\n");
}

TEST_F(StepEndTest, HowItEndedIsKeptOnADiskThatTheJobHasFilled) {
    const std::string steps = folder.path("steps");
    if (mount("zbs-test", steps.c_str(), "tmpfs", 0, "size=512k,mode=711") != 0) GTEST_SKIP() << "needs a small disk";
    ASSERT_TRUE(start("fills", "head -c 2000000 /dev/zero > fill; exit 5"));
    const StepStatus end = wait("fills");
    EXPECT_EQ(end.exit_code, 5);
    EXPECT_EQ(end.reason, "");
    EXPECT_EQ(umount2(steps.c_str(), MNT_DETACH), 0);
}

TEST_F(StepEndTest, ARecordIsOneLineHoweverLongItsReason) {
    step::ExitRecord record(folder.path(""));
    ASSERT_TRUE(record.is_ready());
    EXPECT_FALSE(std::filesystem::exists(folder.path("exit")));
    ASSERT_TRUE(record.write(7, std::string(10'000, 'x')));
    const std::string text = read_file(folder.path("exit")).value_or("");
    EXPECT_EQ(text.substr(0, text.find('\n')), "7 " + std::string(4'000, 'x'));
    EXPECT_FALSE(step::ExitRecord(folder.path("none")).is_ready());
}

/// The program's output goes to a pipe that nobody reads: opening it hangs, as a file system that does not answer.
TEST_F(StepEndTest, AStopAndTheWalltimeAreHeardBeforeTheProgramBegins) {
    // By a signal; as from another host, which can only write a file; and by nobody.
    for (const StepId& step_id : std::initializer_list<StepId>{"signalled", "written", "long"}) {
        SCOPED_TRACE(step_id);
        const std::string own = folder.path(step_id);
        std::filesystem::create_directories(own + "/job");
        ASSERT_EQ(mkfifo((own + "/job/.zbs-stdout").c_str(), 0600), 0);
        const ProcessRef supervisor = spawn({ZBS_STEP, "--operation", step_id, "--folder", own, "--walltime-s",
                                             step_id == "long" ? "1" : "0", "--namespaces", "none", "--", "/bin/true"});
        // The supervisor has looked for a stop for the last time before it has a child.
        ASSERT_TRUE(eventually([&] { return !find_marked(step_variable(step_id), supervisor.pid).empty(); }));
        if (step_id == "signalled") send_signal(supervisor, SIGTERM);
        if (step_id == "written") {
            ASSERT_TRUE(write_file(own + "/stop", "0"));
        }
        EXPECT_TRUE(eventually([&] { return read_file(own + "/exit").has_value(); }, 30s));
        EXPECT_THAT(read_file(own + "/exit").value_or(""),
                    HasSubstr(step_id == "long" ? "143 walltime of 1 s" : "143 stopped before it began"));
        EXPECT_EQ(alive(step_id), 0U);
        send_signal(supervisor, SIGKILL);
    }
}

TEST_F(StepEndTest, ATreeHasNotEndedWhileSomethingOfItIsAlive) {
    sigset_t watched, before;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &watched, &before);
    const ProcessRef deaf =
        spawn({"/bin/sh", "-c", "trap '' TERM; echo > " + folder.path("up") + "; while :; do sleep 1; done"});
    ASSERT_TRUE(eventually([&] { return read_file(folder.path("up")).has_value(); }));
    const std::string note =
        step::end_tree({.step_id = "tree", .kill_at = SteadyClock::now() + 5'500ms, .watched = watched});
    EXPECT_FALSE(is_alive(deaf));
    EXPECT_THAT(note, HasSubstr("what it left behind took "));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    send_signal(deaf, SIGKILL);
}

}  // namespace
}  // namespace zbs::process
