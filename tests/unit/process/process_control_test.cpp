#include "services/common/adapters/process/process_control.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "services/common/adapters/process/control_group.hpp"
#include "services/common/adapters/process/step_processes.hpp"
#include "tests/unit/process/step_fixture.hpp"

namespace zbs::process {
namespace {

enum class Means { kSignals, kControlGroup, kProcessorGroup };
void PrintTo(Means means, std::ostream* out) {
    *out << (means == Means::kSignals ? "Signals" : means == Means::kControlGroup ? "ControlGroup" : "ProcessorGroup");
}

/// Real trees, suspended by signals and, where this user may make control groups, frozen; weighed by nice levels or, in
/// a group of the processor controller of version 1, by its shares.
class ProcessControlTest : public StepExecutorTest, public testing::WithParamInterface<Means> {
  protected:
    void SetUp() override {
        ProcessControlOptions options{.folder = folder.path("steps"), .control_group = {}};
        if (GetParam() == Means::kControlGroup) {
            options.control_group = "/sys/fs/cgroup/unified/zbs-unit-" + std::to_string(getpid());
            if (!std::filesystem::exists("/sys/fs/cgroup/unified"))
                options.control_group = "/sys/fs/cgroup/zbs-unit-" + std::to_string(getpid());
        }
        if (GetParam() == Means::kProcessorGroup)
            options.control_group = "/sys/fs/cgroup/cpu/zbs-unit-" + std::to_string(getpid());
        group_ = options.control_group;
        auto made = make_process_control(std::move(options));
        if (!made && GetParam() != Means::kSignals) GTEST_SKIP() << made.error().message;
        ASSERT_TRUE(made) << made.error();
        control = *std::move(made);
    }
    void TearDown() override {
        for (const StepId& step_id : std::initializer_list<StepId>{"s", "t", "busy", "sleeper"}) {
            if (!control) break;
            EXPECT_TRUE(control->resume(step_id));
            executor->stop(step_id, 0ms);
            eventually([&] { return executor->status(step_id).state != State::kRunning; });
            control->forget(step_id);
        }
        if (!group_.empty()) rmdir(group_.c_str());
    }
    std::uintmax_t size_of(const StepId& step_id, const std::string& file) {
        std::error_code fault;
        const auto size = std::filesystem::file_size(folder.path("steps/" + step_id + "/job/" + file), fault);
        return fault ? 0 : size;
    }
    bool grows(const StepId& step_id, const std::string& file, SteadyClock::duration patience) {
        const auto before = size_of(step_id, file);
        return eventually([&] { return size_of(step_id, file) != before; }, patience);
    }
    /// As whoever takes turns does: on a busy host the system may need longer to freeze than is waited for.
    bool suspends(const StepId& step_id) {
        return eventually([&] {
            ++suspensions;
            return control->suspend(step_id).has_value();
        });
    }
    std::uint64_t suspensions = 0;  ///< that were tried
    std::vector<StepProcess> processes(const StepId& step_id) {
        return walk_step(folder.path("steps/" + step_id), step_id).processes;
    }

    std::unique_ptr<StepControl> control;

  private:
    std::string group_;
};
INSTANTIATE_TEST_SUITE_P(, ProcessControlTest,
                         testing::Values(Means::kSignals, Means::kControlGroup, Means::kProcessorGroup),
                         [](const auto& param_info) { return testing::PrintToString(param_info.param); });

// Forks all the time, in three branches, one of which has left its parent and session.
constexpr const char* kForking =
    "branch() { while :; do (echo x >> $1; /bin/true); done; }; branch a & (setsid sh -c 'while :; do (echo x >> b; "
    "/bin/true); done' &) ; branch c";

TEST_P(ProcessControlTest, ATreeThatForksStandsStillUntilItIsResumed) {
    ASSERT_TRUE(start("s", kForking));
    for (const char* file : {"a", "b", "c"}) ASSERT_TRUE(grows("s", file, 10s)) << file;
    for (int round = 0; round < 20; ++round) {
        SCOPED_TRACE(round);
        ASSERT_TRUE(suspends("s"));
        EXPECT_EQ(control->activity("s"), StepActivity::kSuspended);
        const auto a = size_of("s", "a"), b = size_of("s", "b"), c = size_of("s", "c");
        // A child that is being born looks runnable until its first turn, which ends in the freezer.
        const auto is_runnable = [](const StepProcess& process) { return process.is_runnable(); };
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (std::ranges::any_of(processes("s"), is_runnable) && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        EXPECT_TRUE(std::ranges::none_of(processes("s"), is_runnable));
        EXPECT_FALSE(grows("s", "a", 20ms));
        EXPECT_EQ(size_of("s", "a"), a);
        EXPECT_EQ(size_of("s", "b"), b);
        EXPECT_EQ(size_of("s", "c"), c);
        ASSERT_TRUE(control->resume("s"));
        for (const char* file : {"a", "b", "c"}) ASSERT_TRUE(grows("s", file, 10s)) << file;
    }
}

/// Processes that never wait, in sessions of their own, on one processor; they end with this.
class BusyProcessor {
  public:
    BusyProcessor(int processes, const cpu_set_t& where) {
        for (int i = 0; i < processes; ++i) {
            const pid_t child = fork();
            if (child == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                setsid();
                sched_setaffinity(0, sizeof where, &where);
                for (;;) asm volatile("");
            }
            children_.push_back(child);
        }
    }
    BusyProcessor(const BusyProcessor&) = delete;
    BusyProcessor& operator=(const BusyProcessor&) = delete;
    ~BusyProcessor() {
        for (const pid_t child : children_) kill(child, SIGKILL);
        for (const pid_t child : children_) waitpid(child, nullptr, 0);
    }

  private:
    std::vector<pid_t> children_;
};

TEST_P(ProcessControlTest, WhatHadNoProcessorToStopOnRunsAfterItIsResumed) {
    ASSERT_TRUE(start("s", "while :; do echo x >> a; done"));
    ASSERT_TRUE(grows("s", "a", 10s));
    ASSERT_TRUE(control->set_nice("s", 19));
    cpu_set_t allowed, first;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int processor = 0;
    while (!CPU_ISSET(processor, &allowed)) ++processor;
    CPU_ZERO(&first);
    CPU_SET(processor, &first);
    for (const StepProcess& process : processes("s")) sched_setaffinity(process.ref.pid, sizeof first, &first);
    for (int round = 0; round < 5; ++round) {
        SCOPED_TRACE(round);
        {
            const BusyProcessor busy(8, first);
            static_cast<void>(control->suspend("s"));  // most often it does not stand still in time
            ASSERT_TRUE(control->resume("s"));
        }
        ASSERT_TRUE(grows("s", "a", 10s));
    }
}

TEST_P(ProcessControlTest, AStoppedTreeThatForksAwayAndIgnoresTermIsGoneInTwoSeconds) {
    ASSERT_TRUE(start("s",
                      "trap '' TERM; (setsid sh -c \"trap '' TERM; echo x > b; while :; do sleep 1; done\" &); "
                      "while :; do (echo x >> a; /bin/true); done"));
    ASSERT_TRUE(grows("s", "a", 10s));
    ASSERT_TRUE(eventually([&] { return size_of("s", "b") > 0; }));
    ASSERT_TRUE(suspends("s"));
    const auto begin = SteadyClock::now();
    executor->stop("s", 1s);
    ASSERT_TRUE(control->resume("s"));
    EXPECT_TRUE(eventually([&] { return executor->status("s").state == State::kExited && alive("s") == 0; }, 2s));
    EXPECT_LE(SteadyClock::now() - begin, 2s);
}

TEST_P(ProcessControlTest, WhatIsSuspendedCanBeKilled) {
    ASSERT_TRUE(start("s", "sleep 1000"));
    ASSERT_TRUE(suspends("s"));
    executor->stop("s", 100ms);
    EXPECT_TRUE(eventually([&] { return executor->status("s").state == State::kExited; }, 2s));
}

TEST_P(ProcessControlTest, UsageTellsABusyFromASleepingProgram) {
    ASSERT_TRUE(start("busy", "while :; do :; done"));
    ASSERT_TRUE(start("sleeper", "sleep 1000"));
    ASSERT_TRUE(eventually([&] { return control->activity("sleeper") == StepActivity::kBlocked; }));
    ASSERT_TRUE(eventually([&] {
        const auto usage = control->usage("busy");
        return usage && usage->cpu >= 200ms;
    })) << "a busy program gets no processor";
    ASSERT_TRUE(eventually([&] {
        const auto usage = control->usage("sleeper");
        return usage && usage->blocked >= 100ms;
    })) << "a sleeping program does not count as blocked";
    const auto busy = control->usage("busy"), sleeper = control->usage("sleeper");
    ASSERT_TRUE(busy && sleeper);
    EXPECT_EQ(busy->activity, StepActivity::kRunning);
    EXPECT_EQ(busy->blocked, 0ms);
    EXPECT_EQ(busy->processes, 1);
    EXPECT_EQ(sleeper->activity, StepActivity::kBlocked);
    EXPECT_LE(sleeper->cpu, 100ms);
    EXPECT_GE(sleeper->voluntary_switches, 1U);
    ASSERT_TRUE(suspends("busy"));
    const Duration before = control->usage("busy")->cpu;
    std::this_thread::sleep_for(100ms);  // the time that it must not use
    EXPECT_LE(control->usage("busy")->cpu - before, 10ms);
}

TEST_P(ProcessControlTest, SwitchesBySuspensionAreKnown) {
    ASSERT_TRUE(start("busy", "while :; do :; done"));
    EXPECT_EQ(control->suspension_switches("busy"), 0U);
    ASSERT_TRUE(eventually([&] { return control->usage("busy")->cpu >= 50ms; }));
    const auto before = control->usage("busy")->voluntary_switches;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(suspends("busy"));
        ASSERT_TRUE(control->resume("busy"));
        const Duration cpu = control->usage("busy")->cpu;
        ASSERT_TRUE(eventually([&] { return control->usage("busy")->cpu > cpu; }));
    }
    EXPECT_EQ(control->suspension_switches("busy"), suspensions);
    const auto switches = control->usage("busy")->voluntary_switches - before;
    EXPECT_LE(switches, suspensions + 5) << "those that are left are few: it never waits";
}

TEST_P(ProcessControlTest, TimeOfEndedChildrenCounts) {
    ASSERT_TRUE(start("s", "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); echo done; sleep 1000"));
    ASSERT_TRUE(wait_for_text("s", ".zbs-stdout", "done"));
    EXPECT_GE(control->usage("s")->cpu, 50ms);
}

TEST_P(ProcessControlTest, DiskWritesAreCounted) {
    ASSERT_TRUE(start("s", "dd if=/dev/zero of=big bs=64k count=64 conv=fsync; echo done; sleep 1000"));
    ASSERT_TRUE(wait_for_text("s", ".zbs-stdout", "done"));
    // On a file system in memory nothing is written to a disk.
    const auto usage = control->usage("s");
    ASSERT_TRUE(usage);
    EXPECT_TRUE(usage->written_bytes == 0 || usage->written_bytes >= 64U * 65'536) << usage->written_bytes;
}

TEST_P(ProcessControlTest, ANiceLevelIsEveryProcesses) {
    ASSERT_TRUE(start("s", "sleep 1000 & sh -c 'sleep 1000; :' & wait"));
    ASSERT_TRUE(eventually([&] { return processes("s").size() == 4; }));
    ASSERT_TRUE(control->set_nice("s", 7));
    for (const StepProcess& process : processes("s"))
        EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(process.ref.pid)), 7);
    EXPECT_EQ(*control->nice("s"), 7);
    EXPECT_EQ(control->set_nice("s", 20).error().code, ErrorCode::kInvalidArgument);
    ASSERT_TRUE(control->set_weight("s", 10));
    EXPECT_EQ(control->set_weight("s", 0).error().code, ErrorCode::kInvalidArgument);
}

TEST_P(ProcessControlTest, AProcessThatComesLaterHasTheNiceLevelOfItsStep) {
    ASSERT_TRUE(start("s", "until [ -e go ]; do sleep 0.01; done; sleep 1000 & sleep 1000"));
    ASSERT_TRUE(control->set_nice("s", 7));
    std::ofstream(folder.path("steps/s/job/go")) << "x";
    ASSERT_TRUE(eventually([&] { return processes("s").size() == 3; }));
    for (const StepProcess& process : processes("s"))
        EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(process.ref.pid)), 7);
}

TEST_P(ProcessControlTest, ASessionThatBeginsLaterHasTheLevelOnceItIsSetAgain) {
    if (!std::filesystem::exists("/proc/self/autogroup")) GTEST_SKIP() << "this kernel does not share by sessions";
    ASSERT_TRUE(control->set_nice("s", 7));
    ASSERT_TRUE(start("s", "setsid sleep 1000 & sleep 1000"));
    const auto sessions = [&] {
        std::set<pid_t> found;
        for (const StepProcess& process : processes("s")) found.insert(process.session);
        return found.size();
    };
    ASSERT_TRUE(eventually([&] { return sessions() == 2; }));
    ASSERT_TRUE(control->set_nice("s", 7));
    for (const StepProcess& process : processes("s")) {
        const auto has = read_file("/proc/" + std::to_string(process.ref.pid) + "/autogroup");
        EXPECT_THAT(has.value_or(""), testing::EndsWith(" nice 7\n"));
    }
}

TEST_P(ProcessControlTest, WeightsDivideAProcessor) {
    constexpr const char* kSpin = "exec taskset -c 0 sh -c 'while :; do :; done'";
    ASSERT_TRUE(start("busy", kSpin));
    ASSERT_TRUE(start("t", kSpin));
    ASSERT_TRUE(control->set_weight("busy", 100));
    ASSERT_TRUE(control->set_weight("t", 33));
    EXPECT_EQ(control->has_weights(), GetParam() == Means::kProcessorGroup);
    const auto cpu = [&](const StepId& step_id) { return control->usage(step_id)->cpu; };
    const Duration busy = cpu("busy"), other = cpu("t");
    // As long as is needed on a host that others use, too.
    ASSERT_TRUE(eventually([&] { return cpu("busy") - busy + cpu("t") - other >= 1s; }, 60s));
    const double ratio = to_seconds(cpu("busy") - busy) / to_seconds(cpu("t") - other);
    EXPECT_GT(ratio, 1.8);
    EXPECT_LT(ratio, 5);
}

TEST_P(ProcessControlTest, WhatIsNotThereIsLeftInPeace) {
    EXPECT_TRUE(control->suspend("none"));
    EXPECT_TRUE(control->resume("none"));
    EXPECT_TRUE(control->set_nice("none", 1));
    EXPECT_EQ(control->usage("none").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(control->nice("none").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(control->activity("none"), StepActivity::kBlocked);
}

TEST_P(ProcessControlTest, StepsAreFoundByTheirFolders) {
    ASSERT_TRUE(start("t", "exit 3"));
    ASSERT_TRUE(start("s", "sleep 1000"));
    EXPECT_THAT(control->step_ids(), testing::ElementsAre("s", "t"));
}

TEST(NiceOfWeight, IsTheNearestLevel) {
    EXPECT_EQ(nice_of_weight(100), 0);
    EXPECT_EQ(nice_of_weight(125), -1);
    EXPECT_EQ(nice_of_weight(80), 1);
    EXPECT_EQ(nice_of_weight(25), 6);
    EXPECT_EQ(nice_of_weight(1), 19);
    EXPECT_EQ(nice_of_weight(10'000), -20);
}

TEST(ControlGroup, AFolderThatIsNoneIsRefused) {
    const test::TemporaryFolder folder;
    const auto opened = ControlGroup::open(folder.path("group"));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace zbs::process
