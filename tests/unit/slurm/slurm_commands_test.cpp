#include "services/zone_scheduler/adapters/slurm/slurm_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/slurm/fake_commands.hpp"

namespace zbs::slurm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(SlurmCommands, FindsCommandsAndTheirRelease) {
    const FakeCommands fake;
    const SlurmCommands commands = fake.find();
    EXPECT_EQ(commands.version(), (Version{22, 5}));
    EXPECT_EQ(commands.path_of("sbatch"), fake.path("sbatch"));
}

TEST(SlurmCommands, WhereThereIsNoSlurmTheErrorNamesThePackage) {
    const Result<SlurmCommands> commands = SlurmCommands::find({.folders = {"/no/such/folder", "/etc"}});
    ASSERT_FALSE(commands);
    EXPECT_EQ(commands.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(commands.error().message, HasSubstr("no sbatch in /no/such/folder, /etc"));
    EXPECT_THAT(commands.error().message, HasSubstr("slurm-client"));
}

TEST(SlurmCommands, EnvironmentIsChosenSoThatNoHabitOfAUserChangesAnAnswer) {
    const FakeCommands fake({{"squeue", "env | grep -E 'SLURM|SQUEUE|^LC_ALL|^TZ' | sort"}});
    setenv("SQUEUE_FORMAT", "%i", 1);
    CommandSettings settings = fake.settings();
    settings.configuration = "/etc/other.conf";
    const Result<SlurmCommands> commands = SlurmCommands::find(settings);
    ASSERT_TRUE(commands);
    EXPECT_EQ(*commands->run("squeue", {}), "LC_ALL=C\nSLURM_CONF=/etc/other.conf\nSLURM_TIME_FORMAT=%s\nTZ=UTC\n");
    unsetenv("SQUEUE_FORMAT");
}

struct Words {
    const char* name;
    const char* said;  ///< by the real commands
    ErrorCode code;
    const char* advice;
};
class ExplanationTest : public testing::TestWithParam<Words> {};

INSTANTIATE_TEST_SUITE_P(
    , ExplanationTest,
    testing::Values(
        Words{"ControllerDown", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
              ErrorCode::kUnavailable, "scontrol ping"},
        Words{"ControllerDownForScontrol", "Unexpected message received for job 1\n", ErrorCode::kUnavailable,
              "scontrol ping"},
        Words{"ControllerLate", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n",
              ErrorCode::kTimeout, "ask for the operation"},
        Words{"NoMunge",
              "squeue: error: If munged is up, restart with --num-threads=10\nsqueue: error: Munge encode failed: "
              "Failed to access "
              "\"/run/munge/munge.socket.2\": No such file or directory (Did you start munged?)\nslurm_load_jobs "
              "error: Protocol authentication error\n",
              ErrorCode::kUnavailable, "munged does not run"},
        Words{"NoConfiguration", "squeue: fatal: Could not establish a configuration source\n", ErrorCode::kUnavailable,
              "slurm.conf"},
        Words{"NoPartition",
              "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid "
              "partition name specified\n",
              ErrorCode::kInvalidArgument, "sinfo"},
        Words{"TooLarge", "sbatch: error: Batch job submission failed: Requested node configuration is not available\n",
              ErrorCode::kRejected, "ask for less"},
        Words{"NoSuchNode", "sbatch: error: Batch job submission failed: Invalid node name specified\n",
              ErrorCode::kInvalidArgument, "sinfo --Node"},
        Words{"NotRoot", "sbatch: error: --uid only permitted by root user\n", ErrorCode::kDenied, "as root"},
        Words{"NotOperator", "Error creating the reservation: Invalid user id\n", ErrorCode::kDenied, "denies"},
        Words{"NoJob", "slurm_load_jobs error: Invalid job id specified\n", ErrorCode::kNotFound, "any more"},
        Words{"ReservationTwice", "Error creating the reservation: Duplicate reservation name\n", ErrorCode::kConflict,
              "exists"},
        Words{"Policy",
              "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, "
              "user's size and/or time limits)\n",
              ErrorCode::kRejected, "limit"},
        Words{"Unknown", "sbatch: error: the moon is in the wrong place\n", ErrorCode::kUnavailable,
              "the moon is in the wrong place"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(ExplanationTest, SaysWhatItMeansAndWhatToDo) {
    const Error error = explain("sbatch", {1, "", GetParam().said});
    EXPECT_EQ(error.code, GetParam().code);
    EXPECT_THAT(error.message, HasSubstr(GetParam().advice));
    EXPECT_THAT(error.message, HasSubstr("(sbatch: "));
}

TEST(Explanation, NothingSaidIsToldByItsExitCodeAndControlCharactersAreShown) {
    EXPECT_THAT(explain("scancel", {3, "", ""}).message, HasSubstr("exit code 3"));
    EXPECT_THAT(explain("scancel", {3, "", "a\x1b[2Jb\n"}).message, HasSubstr("a\\x1b[2Jb)"));
}

TEST(SlurmCommands, LateAnswerIsATimeoutThatSaysItMayBeDone) {
    const FakeCommands fake({{"sbatch", "exec sleep 600"}});
    const Result<std::string> answer = fake.find(1s).run("sbatch", {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
    EXPECT_THAT(answer.error().message, HasSubstr("ask for the operation"));
}

TEST(SlurmCommands, WhatIsTriedAgainForLongIsToldByItsCause) {
    const FakeCommands fake({{"squeue",
                              "echo 's_p_parse_file: cannot stat file /x/slurm.conf: No such file or directory, "
                              "retrying in 1sec' >&2; exec sleep 600"}});
    const Result<std::string> answer = fake.find(1s).run("squeue", {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(answer.error().message, HasSubstr("SLURM_CONF"));
}

}  // namespace
}  // namespace zbs::slurm
