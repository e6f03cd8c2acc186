#include "services/common/adapters/process/step_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "services/common/adapters/process/input_copies.hpp"
#include "services/common/adapters/process/start/supervisor_record.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "tests/unit/process/step_fixture.hpp"

// The real supervisor and real processes.

namespace zbs::process {
namespace {
using namespace std::chrono_literals;
using State = StepStatus::State;
using testing::HasSubstr;

TEST_F(StepExecutorTest, ExitCodesComeBack) {
    for (const int code : {0, 1, 7, 255}) {
        const StepId step_id("exit-" + std::to_string(code));
        ASSERT_TRUE(start(step_id, "exit " + std::to_string(code)));
        const StepStatus status = wait(step_id);
        EXPECT_EQ(status.exit_code, code);
        EXPECT_EQ(status.reason, "");
    }
}

TEST_F(StepExecutorTest, ASignalIs128PlusItsNumber) {
    for (const int signal : {SIGKILL, SIGTERM, SIGSEGV, SIGINT}) {
        const StepId step_id("signal-" + std::to_string(signal));
        ASSERT_TRUE(start(step_id, "kill -" + std::to_string(signal) + " $$; sleep 60"));
        EXPECT_EQ(wait(step_id).exit_code, 128 + signal);
    }
}

TEST_F(StepExecutorTest, AServiceThatIsKilledWhileItStartsAStepDoesNotTakeItAlong) {
    // Its supervisor tells a starter that is gone.
    const pid_t service = fork();
    ASSERT_GE(service, 0);
    if (service == 0) {
        failpoint::arm({{.point = failpoint::Point::kPeerStepSpawned}}, [](const failpoint::Arming&) {});
        static_cast<void>(start("orphan", "sleep 0.3; echo done"));
        std::ofstream(folder.path("was not killed"));
        _exit(1);
    }
    waitpid(service, nullptr, 0);  // finds nothing where children are not waited for, but only once it has ended
    ASSERT_FALSE(std::filesystem::exists(folder.path("was not killed")));
    const auto late = std::chrono::steady_clock::now() + 20s;
    while (executor->status("orphan").state == State::kUnknown && std::chrono::steady_clock::now() < late)
        std::this_thread::yield();  // the supervisor has yet to put itself down
    const StepStatus status = wait("orphan");
    EXPECT_EQ(status.exit_code, 0) << status.reason;
    EXPECT_EQ(text("orphan", ".zbs-stdout"), "done\n");
}

TEST_F(StepExecutorTest, OutputIsKeptApartAndReadInPieces) {
    ASSERT_TRUE(start("out", "printf 0123456789; printf error >&2"));
    wait("out");
    EXPECT_EQ(text("out", ".zbs-stdout"), "0123456789");
    EXPECT_EQ(text("out", ".zbs-stderr"), "error");
    EXPECT_EQ(*executor->read("out", ".zbs-stdout", 4, 3), "456");
    EXPECT_EQ(*executor->read("out", ".zbs-stdout", 8, 100), "89");
    EXPECT_EQ(*executor->read("out", ".zbs-stdout", 10, 100), "");
    EXPECT_EQ(*executor->read("out", ".zbs-stdout", UINT64_MAX, 100), "");
    EXPECT_EQ(executor->read("out", "none", 0, 1).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(executor->read("none", ".zbs-stdout", 0, 1).error().code, ErrorCode::kNotFound);
}

TEST_F(StepExecutorTest, InputsAreTheJobsOwnAndOneStepsFolderIsSharedWithTheNext) {
    std::ofstream(folder.path("script")) << "#!/bin/sh\ncat in.dat\n";
    std::ofstream(folder.path("input")) << "hello";
    StepSpec spec;
    spec.inputs = {{"run", folder.path("script"), true}, {"in.dat", folder.path("input"), false}};
    EXPECT_EQ(output("first", "./run; stat -c %a run in.dat; echo more >> in.dat", spec), "hello700\n600\n");
    EXPECT_EQ(*executor->read("first", "in.dat", 0, 100), "hellomore\n");
    std::ifstream kept(folder.path("input"));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "hello");
    StepSpec next;
    next.shares = {"first"};
    EXPECT_EQ(output("second", "cd " + executor->folder("first") + " && cat in.dat && touch new", next), "hellomore\n");
    EXPECT_TRUE(executor->read("first", "new", 0, 1));
    StepSpec missing;
    missing.inputs = {{"x", folder.path("none"), false}};
    EXPECT_THAT(start("third", "true", missing).error().message, HasSubstr("file x"));
    missing.inputs = {{"../x", folder.path("input"), false}};
    EXPECT_EQ(start("fourth", "true", missing).error().code, ErrorCode::kInvalidArgument);
}

/// Larger than what is copied while everybody waits.
struct LargeInputs : StepExecutorTest {
    static constexpr std::uint64_t kLarge = InputCopies::kWorthAThread + 3;
    StepSpec with_large() {
        std::ofstream(folder.path("large"), std::ios::binary) << std::string(kLarge, 'x');
        StepSpec spec;
        spec.inputs = {{.name = "in.dat", .path = folder.path("large")}};
        return spec;
    }
};

TEST_F(LargeInputs, AStepAndThoseThatShareItsFolderBeginOnceTheyAreThere) {
    const StepSpec spec = with_large();
    ASSERT_TRUE(start("first", "wc -c < in.dat", spec));
    StepSpec next;
    next.shares = {"first"};
    ASSERT_TRUE(start("second", "wc -c < " + executor->folder("first") + "/in.dat", next));
    EXPECT_EQ(executor->status("second").state, StepStatus::State::kRunning) << "it goes after the first";
    EXPECT_TRUE(start("first", "echo twice", spec)) << "a repeat starts nothing twice";
    EXPECT_EQ(executor->remove("first", 100).error().code, ErrorCode::kConflict);
    EXPECT_EQ(wait("first").exit_code, 0);
    EXPECT_EQ(wait("second").exit_code, 0);
    EXPECT_EQ(text("first", ".zbs-stdout"), std::to_string(kLarge) + "\n");
    EXPECT_EQ(text("second", ".zbs-stdout"), std::to_string(kLarge) + "\n");
}

TEST_F(LargeInputs, WhatCannotBeCopiedEndsTheStepAsAFaultOfTheSite) {
    StepSpec spec = with_large();
    spec.inputs.push_back({.name = "none", .path = folder.path("none")});
    ASSERT_TRUE(start("first", "true", spec));
    const StepStatus end = wait("first");
    EXPECT_EQ(end.exit_code, 127);
    EXPECT_TRUE(end.is_site_fault);
    EXPECT_THAT(end.reason, HasSubstr("file none cannot be laid into the folder"));
    EXPECT_TRUE(executor->status("first").is_site_fault) << "and stays so";
}

TEST_F(LargeInputs, AStopBeforeTheyAreThereIsHeard) {
    ASSERT_TRUE(start("first", "echo begun", with_large()));
    executor->stop("first", std::chrono::seconds{1});
    EXPECT_NE(wait("first").exit_code, 0);
    EXPECT_FALSE(executor->read("first", ".zbs-stdout", 0, 1)) << "it has not begun";
}

TEST_F(StepExecutorTest, AFolderThatGrowsOverItsBoundEndsTheStep) {
    StepSpec spec;
    spec.folder_bytes = 2 << 20;
    ASSERT_TRUE(start("below", "mkdir -p a/b; head -c 3000000 /dev/zero > a/b/c; sleep 60", spec));
    const StepStatus end = wait("below");
    EXPECT_EQ(end.exit_code, 143);
    EXPECT_THAT(end.reason, HasSubstr("take more of the disk than is allowed: more than 2 MiB"));
    ASSERT_TRUE(
        start("within", "head -c 1000000 /dev/zero > c; head -c 3000000 /dev/zero; ln -s / root; sleep 2", spec));
    EXPECT_EQ(wait("within").exit_code, 0) << "its own output has bounds of its own";
    ASSERT_TRUE(start("links", "head -c 1500000 /dev/zero > a; ln a b; ln a c; sleep 2", spec));
    EXPECT_EQ(wait("links").exit_code, 0) << "three names are one file";
}

TEST_F(StepExecutorTest, FilesOfAnEndedStepAreRemovedAndNothingElse) {
    std::ofstream(folder.path("mine")) << "x";
    ASSERT_TRUE(start("a", "echo 1 > in; echo 2 > kept; mkdir sub; ln -s " + folder.path("mine") + " link"));
    wait("a");
    ASSERT_TRUE(executor->remove_files("a", {"in", "none", "sub", "link", "../exit"}));
    EXPECT_FALSE(executor->read("a", "in", 0, 1));
    EXPECT_EQ(text("a", "kept"), "2\n");
    EXPECT_TRUE(std::ifstream(folder.path("mine")));
    EXPECT_EQ(executor->status("a").exit_code, 0);
    EXPECT_TRUE(executor->remove_files("no-such-step", {"in"}));
}

TEST_F(StepExecutorTest, NoFileOutsideTheFolderIsRead) {
    ASSERT_TRUE(start("link", "ln -s /etc/passwd inside"));
    wait("link");
    for (const char* file : {"../../../etc/passwd", "/etc/passwd", "..", ".", "", "inside"})
        EXPECT_FALSE(executor->read("link", file, 0, 10)) << file;
    EXPECT_FALSE(executor->read("..", "passwd", 0, 10));
    for (const Executor::File& file : executor->list("link", "")) EXPECT_NE(file.name, "inside");
}

TEST_F(StepExecutorTest, FilesAreLaidOutFirstAndListed) {
    StepSpec spec;
    spec.files = {{"in.txt", "hello"}};
    ASSERT_TRUE(start("files", "cat in.txt; printf b > out.1; printf aa > out.0", spec));
    wait("files");
    EXPECT_EQ(text("files", ".zbs-stdout"), "hello");
    std::vector<std::pair<std::string, std::uint64_t>> found;
    for (const Executor::File& file : executor->list("files", "out.")) found.emplace_back(file.name, file.bytes);
    EXPECT_THAT(found, testing::ElementsAre(std::pair<std::string, std::uint64_t>{"out.0", 2},
                                            std::pair<std::string, std::uint64_t>{"out.1", 1}));
    spec.files = {{"../evil", "x"}};
    EXPECT_FALSE(start("bad", "true", spec));
    EXPECT_FALSE(std::filesystem::exists(folder.path("steps/evil")));
    EXPECT_TRUE(executor->list("unknown", "").empty());
}

TEST_F(StepExecutorTest, AStepThatWasStoppedBeforeItBeganNeverBegins) {
    const std::string ran = folder.path("ran");
    executor->stop("late", 0s);
    EXPECT_EQ(executor->status("late").state, State::kUnknown);
    const Result<void> started = start("late", "touch " + ran);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("stopped before it began"));
    EXPECT_EQ(wait("late").exit_code, 143);
    EXPECT_FALSE(std::filesystem::exists(ran));
}

TEST_F(StepExecutorTest, TheEnvironmentIsGivenNotInherited) {
    setenv("ZBS_TEST_SECRET", "1", 1);
    StepSpec spec;
    spec.environment = {{"GIVEN", "a b=c"}};
    ASSERT_TRUE(start("env", "env", spec));
    wait("env");
    unsetenv("ZBS_TEST_SECRET");
    EXPECT_THAT(text("env", ".zbs-stdout"), HasSubstr("GIVEN=a b=c\n"));
    EXPECT_THAT(text("env", ".zbs-stdout"), testing::Not(HasSubstr("SECRET")));
}

TEST_F(StepExecutorTest, OpenFilesOfTheServiceStayHere) {
    std::ofstream secret(folder.path("secret"));
    ASSERT_TRUE(start("fds", "ls /proc/self/fd | wc -l"));
    wait("fds");
    EXPECT_EQ(std::stoi(text("fds", ".zbs-stdout")), 4) << "0, 1, 2 and the folder that ls reads";
}

TEST_F(StepExecutorTest, RunsInTheDirectoryAsked) {
    StepSpec spec;
    spec.directory = folder.path();
    ASSERT_TRUE(start("here", "pwd", spec));
    ASSERT_TRUE(start("own", "pwd"));
    wait("here");
    wait("own");
    EXPECT_EQ(text("here", ".zbs-stdout"), folder.path() + "\n");
    EXPECT_EQ(text("own", ".zbs-stdout"), executor->folder("own") + "\n");
}

TEST_F(StepExecutorTest, WhatCannotStartSaysWhy) {
    StepSpec spec{.step_id = "missing", .argv = {"/no/such/program"}};
    const auto missing = executor->start(spec);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, testing::AllOf(HasSubstr("/no/such/program"), HasSubstr("No such file")));
    EXPECT_EQ(wait("missing").exit_code, 127);
    spec = {.step_id = "nowhere", .argv = {"/bin/true"}, .directory = "/no/such/directory"};
    const auto nowhere = executor->start(spec);
    ASSERT_FALSE(nowhere);
    EXPECT_THAT(nowhere.error().message, HasSubstr("/no/such/directory"));
    spec = {.step_id = "text", .argv = {"/etc/passwd"}};
    EXPECT_FALSE(executor->start(spec));
}

TEST_F(StepExecutorTest, StartedTwiceRunsOnce) {
    ASSERT_TRUE(start("once", "echo x >> count; sleep 60"));
    ASSERT_TRUE(wait_for_text("once", "supervisor", " "));
    ASSERT_TRUE(eventually([&] { return read_file(executor->folder("once") + "/count").has_value(); }));
    ASSERT_TRUE(start("once", "echo x >> count"));
    open();
    ASSERT_TRUE(start("once", "echo x >> count"));
    executor->stop("once", 100ms);
    wait("once");
    ASSERT_TRUE(start("once", "echo x >> count")) << "an ended one is known too";
    EXPECT_EQ(read_file(executor->folder("once") + "/count"), "x\n");
}

TEST_F(StepExecutorTest, ASignalToTheServiceWhileAStepBeginsIsNoSilenceOfItsSupervisor) {
    struct sigaction before {};
    struct sigaction handled {};
    handled.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGUSR1, &handled, &before), 0);
    std::atomic<bool> over = false;
    std::thread pestering([&over, service = pthread_self()] {
        while (!over) {
            pthread_kill(service, SIGUSR1);
            std::this_thread::yield();
        }
    });
    const auto started = start("pestered", "exit 0");
    over = true;
    pestering.join();
    sigaction(SIGUSR1, &before, nullptr);
    EXPECT_TRUE(started) << started.error();
}

TEST_F(StepExecutorTest, UnknownStepsAreUnknown) {
    EXPECT_EQ(executor->status("never").state, State::kUnknown);
    executor->stop("never", 1s);
    EXPECT_EQ(executor->status("never").state, State::kUnknown);
}

TEST_F(StepExecutorTest, StopEndsTheWholeTreePolitely) {
    ASSERT_TRUE(start("polite", "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done"));
    ASSERT_TRUE(wait_for_text("polite", ".zbs-stdout", "ready"));
    executor->stop("polite", 5s);
    const StepStatus status = wait("polite");
    EXPECT_EQ(status.exit_code, 3);
    EXPECT_EQ(status.reason, "stopped");
    EXPECT_THAT(text("polite", ".zbs-stdout"), HasSubstr("bye"));
    EXPECT_EQ(alive("polite"), 0U);
}

TEST_F(StepExecutorTest, WhatDoesNotListenIsKilledAfterTheGrace) {
    ASSERT_TRUE(start("deaf", "trap '' TERM; echo ready; while :; do sleep 0.05; done"));
    ASSERT_TRUE(wait_for_text("deaf", ".zbs-stdout", "ready"));
    const auto begin = SteadyClock::now();
    executor->stop("deaf", 300ms);
    EXPECT_EQ(wait("deaf").exit_code, 137);
    EXPECT_GE(SteadyClock::now() - begin, 250ms);
    EXPECT_EQ(alive("deaf"), 0U);
}

TEST_F(StepExecutorTest, AGrandchildInASessionOfItsOwnDoesNotGetAway) {
    ASSERT_TRUE(start("daemon",
                      "setsid sh -c 'trap \"\" TERM HUP; echo grandchild >> up; while :; do sleep 0.05; done' & wait"));
    ASSERT_TRUE(wait_for_text("daemon", "up", "grandchild"));
    EXPECT_GE(alive("daemon"), 2U);
    executor->stop("daemon", 200ms);
    wait("daemon");
    EXPECT_EQ(alive("daemon"), 0U);
}

TEST_F(StepExecutorTest, WhatAnEndedProgramLeavesBehindGoesToo) {
    ASSERT_TRUE(start("leftover",
                      "setsid sleep 60 & setsid sh -c 'trap \"\" TERM; echo > up; while :; do sleep 0.05; done' & "
                      "while [ ! -e up ]; do sleep 0.02; done; exit 4"));
    EXPECT_EQ(wait("leftover").exit_code, 4);
    EXPECT_EQ(alive("leftover"), 0U) << "nothing is alive once the step has ended";
}

TEST_F(StepExecutorTest, TheWalltimeEndsTheTree) {
    StepSpec spec;
    spec.walltime = 1s;
    spec.grace = 20s;  // without one SIGKILL follows SIGTERM at once, and either may be first
    ASSERT_TRUE(start("long", "sleep 60", spec));
    const auto begin = SteadyClock::now();
    const StepStatus status = wait("long");
    EXPECT_GE(SteadyClock::now() - begin, 800ms);
    EXPECT_EQ(status.exit_code, 143);
    EXPECT_THAT(status.reason, HasSubstr("walltime of 1 s"));
    EXPECT_EQ(alive("long"), 0U);
}

TEST_F(StepExecutorTest, AWalltimeBelowASecondIsALimitToo) {
    StepSpec spec;
    spec.walltime = 100ms;
    spec.grace = 20s;
    ASSERT_TRUE(start("short", "sleep 60", spec));
    EXPECT_EQ(wait("short").exit_code, 143);
}

TEST_F(StepExecutorTest, AStepOfAnotherHostIsNotTakenForAProcessOfThisOne) {
    ASSERT_TRUE(start("far", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"));
    ASSERT_TRUE(wait_for_text("far", ".zbs-stdout", "ready"));
    const auto process = *supervisor_of("far");  // lives here, under the number that another host gave
    const std::string file = folder.path("steps/far/supervisor");
    EXPECT_EQ(read_file(file), std::to_string(process.pid) + " " + std::to_string(process.start_time) + " " +
                                   this_host().id + " " + this_host().name + "\n");
    ASSERT_TRUE(write_file(file, std::to_string(process.pid) + " " + std::to_string(process.start_time) +
                                     " another-boot/pid:[1] far-host\n"));
    open();
    const StepStatus status = executor->status("far");
    EXPECT_EQ(status.state, State::kExited);
    EXPECT_EQ(status.exit_code, 137);
    EXPECT_THAT(status.reason, testing::AllOf(HasSubstr("it ran on host far-host"), HasSubstr("cannot see")));
    executor->stop("far", 0s);
    EXPECT_TRUE(is_alive(process)) << "a process of this host was signalled for it";
    EXPECT_EQ(executor->status("far").state, State::kExited);
    // There its supervisor finds the stop that was put down.
    EXPECT_TRUE(eventually([&] { return !is_alive(process); }, 30s));
    EXPECT_EQ(executor->status("far").reason, status.reason) << "how it ended there counts no more";
    EXPECT_EQ(alive("far"), 0U);
}

TEST_F(StepExecutorTest, AStepOfAnEarlierLifeOfThisHostIsToldAsSuch) {
    std::filesystem::create_directory(folder.path("steps/old"));
    ASSERT_TRUE(write_file(folder.path("steps/old/supervisor"),
                           std::to_string(getpid()) + " 1 earlier-boot/pid:[1] " + this_host().name + "\n"));
    const StepStatus status = executor->status("old");
    EXPECT_EQ(status.state, State::kExited);
    EXPECT_THAT(status.reason, AllOf(testing::StartsWith("lost machine: "), HasSubstr("was started anew")));
    EXPECT_EQ(status.reason, executor->status("old").reason) << "it is kept";
}

TEST_F(StepExecutorTest, AKilledSupervisorIsNoticedAndItsTreeEnds) {
    ASSERT_TRUE(start("orphan", "setsid sh -c 'echo > up; sleep 60' & wait"));
    ASSERT_TRUE(eventually([&] { return executor->read("orphan", "up", 0, 1).has_value(); }));
    ASSERT_TRUE(send_signal(*supervisor_of("orphan"), SIGKILL));
    const StepStatus status = wait("orphan");
    EXPECT_EQ(status.exit_code, 137);
    EXPECT_THAT(status.reason, HasSubstr("lost supervisor"));
    EXPECT_EQ(alive("orphan"), 0U);
}

TEST_F(StepExecutorTest, ARestartFindsRunningStepsAgain) {
    ASSERT_TRUE(start("keeps", "while [ ! -e end ]; do sleep 0.02; done; exit 5"));
    executor.reset();
    open();
    EXPECT_EQ(executor->status("keeps").state, State::kRunning);
    std::ofstream(executor->folder("keeps") + "/end") << "x";
    EXPECT_EQ(wait("keeps").exit_code, 5);
    open();
    EXPECT_EQ(executor->status("keeps").exit_code, 5) << "and ended ones";
}

TEST_F(StepExecutorTest, ManyStepsAtOnceStayApart) {
    const auto step = [](int i) { return StepId("many-" + std::to_string(i)); };
    for (int i = 0; i < 10; ++i)
        ASSERT_TRUE(start(step(i), "echo " + std::to_string(i) + "; exit " + std::to_string(i)));
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(wait(step(i)).exit_code, i);
        EXPECT_EQ(text(step(i), ".zbs-stdout"), std::to_string(i) + "\n");
    }
}

TEST_F(StepExecutorTest, StoppingOneLeavesOthersAlone) {
    ASSERT_TRUE(start("a-1", "sleep 60"));
    ASSERT_TRUE(start("a-10", "sleep 60"));  // its name begins like the other's
    executor->stop("a-1", 100ms);
    wait("a-1");
    EXPECT_EQ(executor->status("a-10").state, State::kRunning);
    EXPECT_GE(alive("a-10"), 1U);
}

TEST(StepExecutor, FoldersOnTheWayToAJobsOwnCanBePassedOnlyWhereOtherHostsHaveTo) {
    const auto mode = [](const std::string& path) {
        struct stat info {};
        EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
        return info.st_mode & 07777;
    };
    for (const bool passable : {true, false, true}) {
        const test::TemporaryFolder folder;
        const std::string steps = folder.path("steps");
        const auto made = make_step_executor({.folder = steps, .supervisor = ZBS_STEP, .passable = passable});
        ASSERT_TRUE(made) << made.error();
        const std::string job = (*made)->folder("a");
        EXPECT_EQ(job, steps + "/a/job");
        EXPECT_EQ(mode(steps), passable ? 0711U : 0700U);
        EXPECT_EQ(mode(steps + "/a"), passable ? 0711U : 0700U);
        EXPECT_EQ(mode(job), 0700U);
    }
}

TEST(StepExecutor, CannotBeMadeWithoutFolderOrSupervisor) {
    const test::TemporaryFolder folder;
    EXPECT_FALSE(make_step_executor({.folder = folder.path("no/such"), .supervisor = ZBS_STEP}));
    const auto made = make_step_executor({.folder = folder.path("steps"), .supervisor = folder.path("none")});
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr(folder.path("none")));
}

}  // namespace
}  // namespace zbs::process
