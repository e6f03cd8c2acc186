#include "services/zone_scheduler/adapters/slurm/placeholder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "services/zone_scheduler/adapters/slurm/command.hpp"
#include "tests/unit/slurm/fake_commands.hpp"

namespace zbs::slurm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(Placeholder, NamesCarryTheOperationAndNothingElseDoes) {
    const std::string operation = "01J9Z3V7Q0ABCDEFGHJKMNPQRS-hold";
    EXPECT_EQ(operation_of(job_name(operation)), operation);
    for (const char* name : {"", "zbs-", "zbs", "sleep", "zbs-a b", "zbs-a,b", "ZBS-a"})
        EXPECT_EQ(operation_of(name), "") << name;
    EXPECT_FALSE(is_operation(std::string(65, 'a')));
}

/// Runs the script with sleeps that take no time: what squeue says of the comment decides whether it goes on.
std::string sleeps_after(const std::string& squeue) {
    FakeCommands fake({{"squeue", squeue}});
    fake.write("sleep", "exit 0");
    const HoldSpec spec{.operation = "a", .walltime = 60s, .expiry = 10s};
    const Result<CommandOutput> output = run({.program = "/bin/sh",
                                              .environment = {{"SLURM_JOB_ID", "7"}},
                                              .input = placeholder_script(spec, fake.path("")),
                                              .deadline = 60s,
                                              .max_output = 10'000});
    EXPECT_TRUE(output && output->exit_code == 0 && output->error.empty());
    return fake.calls();
}

TEST(Placeholder, EndsAfterItsExpiryWhereNobodyKeptIt) {
    EXPECT_EQ(sleeps_after("echo zbs:held"), "sleep 10\nsqueue --noheader --jobs=7 --format=%k\n");
}

TEST(Placeholder, GoesOnWhereItIsKept) { EXPECT_THAT(sleeps_after("echo zbs:kept"), HasSubstr("\nsleep 3660\n")); }

TEST(Placeholder, GoesOnWhereSlurmDoesNotAnswer) {
    EXPECT_THAT(sleeps_after("exit 1"), HasSubstr("\nsleep 3660\n"));
    EXPECT_THAT(sleeps_after("echo 'slurm_load_jobs error' >/dev/null; exit 1"), HasSubstr("\nsleep 3660\n"));
}

TEST(Placeholder, WithoutExpiryAsksNobody) {
    EXPECT_THAT(placeholder_script({.operation = "a", .walltime = 60s}, "/usr/bin"), Not(HasSubstr("squeue")));
}

}  // namespace
}  // namespace zbs::slurm
