#include "services/zone_scheduler/adapters/slurm/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "services/common/messages/part.hpp"
#include "services/zone_scheduler/adapters/slurm/command.hpp"
#include "services/zone_scheduler/adapters/slurm/users.hpp"
#include "tests/unit/slurm/fake_commands.hpp"

namespace zbs::slurm {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

Allocation running() {
    return {.operation = "hold",
            .job = 7,
            .phase = Phase::kRunning,
            .strength = Strength::kPlaceholder,
            .state = "RUNNING",
            .user = find_user({})->name,
            .nodes = {{"n1", 4}, {"n2", 2}}};
}
LaunchSpec program() {
    return {.step_id = "step", .argv = {"/bin/app", "a b"}, .places = {"n2", "n1", "n2"}, .walltime = 9s};
}

TEST(Launch, IsAnSrunInsideTheAllocation) {
    const FakeCommands fake;
    const Result<StepSpec> step = make_step(fake.find(), running(), program());
    ASSERT_TRUE(step) << step.error();
    EXPECT_EQ(step->step_id, "step");
    EXPECT_EQ(step->walltime, 9s);
    EXPECT_EQ(step->account, "");  // the service's own user needs no change of it
    EXPECT_EQ(step->argv.front(), fake.path("srun"));
    for (const char* option : {"--jobid=7", "--job-name=step", "--overlap", "--distribution=arbitrary",
                               "--nodelist=n2,n1,n2", "--ntasks=3", "--chdir=/tmp"})
        EXPECT_THAT(step->argv, Contains(option));
    EXPECT_EQ(std::vector<std::string>(step->argv.end() - 2, step->argv.end()), program().argv);
}

TEST(Launch, RanksOfOneMpiJobEndTogetherAndWriteWhereTheyAreTold) {
    LaunchSpec spec = program();
    spec.pmi = "pmi2";
    spec.output_folder = "/state/50%";
    const Result<StepSpec> step = make_step(FakeCommands().find(), running(), spec);
    ASSERT_TRUE(step) << step.error();
    for (const char* option :
         {"--mpi=pmi2", "--kill-on-bad-exit=1", "--output=/state/50%%/.zbs-out.%t", "--error=/state/50%%/.zbs-err.%t"})
        EXPECT_THAT(step->argv, Contains(option));
    const Result<StepSpec> alone = make_step(FakeCommands().find(), running(), program());
    EXPECT_THAT(alone->argv, Contains("--mpi=none"));
    EXPECT_THAT(alone->argv, testing::Not(Contains("--kill-on-bad-exit=1"))) << "proxies see to their ranks themselves";
}

TEST(Launch, MoreTasksThanProcessorsOnlyWhereTheyMayShareThese) {
    LaunchSpec spec = program();
    spec.places = {"n1", "n1", "n1", "n1", "n2", "n2", "n2"};
    EXPECT_EQ(make_step(FakeCommands().find(), running(), spec).error().pointer, "/places");
    spec.may_share_processors = true;
    const Result<StepSpec> step = make_step(FakeCommands().find(), running(), spec);
    ASSERT_TRUE(step) << step.error();
    EXPECT_THAT(step->argv, Contains("--overcommit"));
}

/// Runs a command of a step, which has to be there.
CommandOutput run_words(std::vector<std::string> words) {
    const std::string path = words.at(0);
    words.erase(words.begin());
    const Result<CommandOutput> output = run({.program = path,
                                              .arguments = std::move(words),
                                              .environment = {},
                                              .input = {},
                                              .deadline = 20s,
                                              .max_output = 4'096});
    EXPECT_TRUE(output) << output.error();
    return output ? *output : CommandOutput{};
}

/// srun would end its tasks at once if it got the signal of a stop.
TEST(Launch, StopSendsTheTasksOneSignalOnceSlurmListsTheirStep) {
    FakeCommands fake;
    const std::string down = fake.path("down");
    std::ofstream(down) << "";
    fake.write("squeue", "rm " + down + " 2>/dev/null && exit 1; echo 7.extern extern; echo 7.0 steps; echo 7.1 step");
    fake.write("scancel", "exit 1");  // the step may end at this moment
    LaunchSpec spec = program();
    spec.grace = 4s;
    const Result<StepSpec> step = make_step(fake.find(), running(), spec);
    ASSERT_TRUE(step) << step.error();
    EXPECT_EQ(step->grace, 4s);
    run_words(step->on_stop);
    const std::string question = "squeue --noheader --steps --jobs=7 --format=%i %j\n";
    EXPECT_EQ(fake.calls(), question + question + "scancel --signal=TERM 7.1\n");
}

/// A launcher ends its ranks at SIGTERM: between Slurm and it is a process that knows SIGURG.
TEST(Launch, TasksThatLaunchProgramsGetASignalThatEndsNone) {
    FakeCommands fake;
    const std::string there = fake.path("there"), again = fake.path("again");
    std::ofstream(there) << "";
    fake.write("squeue", "[ ! -e " + there + " ] || echo 7.1 step");
    fake.write("scancel", "[ -e " + again + " ] && rm " + there + "; : > " + again);
    LaunchSpec spec = program();
    spec.is_launcher = true;
    spec.argv = {"/bin/sh", "-c", "exit 5"};
    const Result<StepSpec> step = make_step(fake.find(), running(), spec);
    ASSERT_TRUE(step) << step.error();
    run_words(step->on_stop);
    const std::string question = "squeue --noheader --steps --jobs=7 --format=%i %j\n";
    const std::string signal = question + "scancel --signal=URG 7.1\n";
    EXPECT_EQ(fake.calls(), signal + signal + question) << "until the step has ended";
    const std::vector<std::string> task(std::ranges::find(step->argv, "/bin/sh"), step->argv.end());
    EXPECT_EQ(std::vector<std::string>(task.end() - 4, task.end()),
              (std::vector<std::string>{"step", "/bin/sh", "-c", "exit 5"}));
    EXPECT_EQ(run_words(task).exit_code, 5) << "on a node without zbs-step";
}

TEST(Launch, LauncherOnANodeWithoutASupervisorForItEndsAtTheSignal) {
    LaunchSpec spec = program();
    spec.is_launcher = true;
    spec.argv = {"/bin/sh", "-c", "while kill -URG $PPID; do sleep 0.05; done"};
    const Result<StepSpec> step = make_step(FakeCommands().find(), running(), spec);
    ASSERT_TRUE(step) << step.error();
    EXPECT_EQ(run_words({std::ranges::find(step->argv, "/bin/sh"), step->argv.end()}).exit_code, 143);
}

TEST(Launch, JobOfAnotherUserIsStartedAsThatUser) {
    Allocation allocation = running();
    allocation.user = "somebody-else";
    EXPECT_EQ(make_step(FakeCommands().find(), allocation, program())->account, "somebody-else");
}

TEST(Launch, VariablesThatWouldChangeSrunReachTheProgramOnly) {
    LaunchSpec spec = program();
    spec.environment = {{"PATH", "/bin"}, {"LD_PRELOAD", "/lib/profile.so"}, {"SLURM_NTASKS", "99"}, {"PMI_RANK", "0"}};
    const Result<StepSpec> step = make_step(FakeCommands().find(), running(), spec);
    ASSERT_TRUE(step);
    EXPECT_THAT(step->environment, ElementsAre(Pair("PATH", "/bin")));
    EXPECT_EQ(std::vector<std::string>(step->argv.end() - 6, step->argv.end()),
              (std::vector<std::string>{"/usr/bin/env", "LD_PRELOAD=/lib/profile.so", "SLURM_NTASKS=99", "PMI_RANK=0",
                                        "/bin/app", "a b"}));
}

TEST(Launch, BadInputIsRefusedWithItsPlace) {
    const FakeCommands fake;
    const SlurmCommands commands = fake.find();
    const auto pointer = [&](auto change) {
        LaunchSpec spec = program();
        change(spec);
        const Result<StepSpec> step = make_step(commands, running(), spec);
        return step ? "accepted" : step.error().pointer;
    };
    EXPECT_EQ(pointer([](LaunchSpec& s) { s.step_id = "a b"; }), "/operation");
    EXPECT_EQ(pointer([](LaunchSpec& s) { s.argv.clear(); }), "/argv");
    EXPECT_EQ(pointer([](LaunchSpec& s) { s.places.clear(); }), "/places");
    EXPECT_EQ(pointer([](LaunchSpec& s) { s.places = {"n1", "n3"}; }), "/places");
    EXPECT_EQ(pointer([](LaunchSpec& s) { s.places.assign(7, "n1"); }), "/places");
    EXPECT_EQ(pointer([](LaunchSpec& s) { s.environment = {{"A=B", "c"}}; }), "/environment");
    EXPECT_EQ(pointer([](LaunchSpec& s) { s.environment = {{"--unset=PATH", "c"}}; }), "/environment");
}

TEST(Launch, NothingStartsInAnAllocationThatDoesNotRun) {
    Allocation waiting = running();
    waiting.phase = Phase::kWaiting;
    waiting.state = "PENDING";
    const Result<StepSpec> step = make_step(FakeCommands().find(), waiting, program());
    EXPECT_EQ(step.error().code, ErrorCode::kConflict);
    EXPECT_THAT(step.error().message, HasSubstr("PENDING"));
}

StepStatus judged(const char* state, Phase phase, int exit_code) {
    Allocation allocation = running();
    allocation.state = state;
    allocation.phase = phase;
    return judge_end({StepStatus::State::kExited, exit_code, "srun's own"}, allocation).value();
}

TEST(Launch, StepThatSlurmEndedIsNoSuccess) {
    const StepStatus over = judged("TIMEOUT", Phase::kEnded, 0);
    EXPECT_EQ(over.exit_code, 143);
    EXPECT_THAT(over.reason, StartsWith(std::string(kWalltimeReason)));
    EXPECT_THAT(judged("NODE_FAIL", Phase::kEnded, 137).reason, HasSubstr("node of Slurm job 7 failed"));
    EXPECT_EQ(judged("NODE_FAIL", Phase::kEnded, 137).exit_code, 137);
    EXPECT_THAT(judged("CANCELLED", Phase::kEnded, 0).reason, HasSubstr("cancelled"));
    EXPECT_THAT(judged("PREEMPTED", Phase::kEnded, 0).reason, HasSubstr("priority"));
}

TEST(Launch, WhileSlurmEndsTheAllocationTheReasonIsNotKnown) {
    Allocation ending = running();
    ending.phase = Phase::kEnding;
    ending.state = "COMPLETING";
    EXPECT_FALSE(judge_end({StepStatus::State::kExited, 0, ""}, ending));
}

TEST(Launch, StepThatEndedByItselfIsLeftAsItIs) {
    EXPECT_EQ(judged("RUNNING", Phase::kRunning, 0).exit_code, 0);
    EXPECT_EQ(judged("RUNNING", Phase::kRunning, 5).reason, "srun's own");
    Allocation over = running();
    over.phase = Phase::kEnded;
    over.state = "TIMEOUT";
    EXPECT_EQ(judge_end({StepStatus::State::kRunning, 0, ""}, over)->reason, "");
}

}  // namespace
}  // namespace zbs::slurm
