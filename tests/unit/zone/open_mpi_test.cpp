#include "services/zone_scheduler/launch/open_mpi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "services/zone_scheduler/launch/launchers.hpp"

namespace zbs::open_mpi {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

const std::vector<ZoneMachine> kPlaces = {{"a", "m1"}, {"a", "m0"}, {"a", "m1"}, {"a", "m0"}};

/// As the agent writes the words of mpirun of Open MPI 4.1.4, with an environment for the daemon in front.
std::string line(int daemon, const std::string& vpid, const std::string& more = "") {
    return "ZBS_DAEMON zbs" + std::to_string(daemon) +
           "           PATH=/usr/bin:$PATH ; export PATH ;   /usr/bin/orted --daemonize -mca ess \"env\" -mca "
           "ess_base_jobid \"587923456\" -mca ess_base_vpid " +
           vpid +
           " -mca ess_base_num_procs \"3\" -mca orte_node_regex \"vm,zbs[1:0-1]@0(3)\" -mca orte_hnp_uri "
           "\"587923456.0;tcp://127.0.0.1:42081\" --mca plm_rsh_no_tree_spawn \"1\" --mca oob_tcp_if_include \"lo\" "
           "-mca plm \"rsh\" -mca plm_rsh_agent \"/bin/sh agent\" -mca orte_rankfile \"ranks\" -mca pmix "
           "\"^s1,s2,cray,isolated\"" +
           more + "\n";
}

TEST(OpenMpiPlan, OneDaemonAMachineInTheOrderOfFirstRanks) {
    EXPECT_THAT(plan_daemons(kPlaces), ElementsAre(ZoneMachine{"a", "m1"}, ZoneMachine{"a", "m0"}));
    EXPECT_EQ(host_file(kPlaces), "zbs0 slots=2\nzbs1 slots=2\n");
    EXPECT_EQ(rank_file(kPlaces), "rank 0=zbs0 slot=*\nrank 1=zbs1 slot=*\nrank 2=zbs0 slot=*\nrank 3=zbs1 slot=*\n");
}

TEST(OpenMpiCommands, AreReadInAnyOrderAndDoneOnceAllAreThere) {
    const std::string text = line(1, "2") + line(0, "1");
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
        const auto lines = read_launch_lines(std::string_view(text).substr(0, cut), 2);
        ASSERT_TRUE(lines) << "cut at " << cut << ": " << lines.error();
        EXPECT_FALSE(lines->done) << "cut at " << cut;
    }
    const auto lines = read_launch_lines(text, 2);
    ASSERT_TRUE(lines) << lines.error();
    EXPECT_TRUE(lines->done);
    EXPECT_THAT(lines->options, ElementsAre(Pair("ess_base_jobid", "587923456"), Pair("ess_base_num_procs", "3"),
                                            Pair("orte_node_regex", "vm,zbs[1:0-1]@0(3)"),
                                            Pair("orte_hnp_uri", "587923456.0;tcp://127.0.0.1:42081"),
                                            Pair("oob_tcp_if_include", "lo"), Pair("pmix", "^s1,s2,cray,isolated")));
}

TEST(OpenMpiCommands, OneThatCameTwiceCountsOnce) {
    const auto lines = read_launch_lines(line(0, "1") + line(0, "1"), 2);
    ASSERT_TRUE(lines);
    EXPECT_FALSE(lines->done);
}

TEST(OpenMpiCommands, WhatIsNotUnderstoodIsAnError) {
    EXPECT_FALSE(read_launch_lines(line(0, "2"), 2)) << "the number of another daemon";
    EXPECT_FALSE(read_launch_lines(line(2, "3"), 2)) << "a daemon too many";
    EXPECT_FALSE(read_launch_lines("ZBS_DAEMON elsewhere orted -mca ess_base_vpid 1\n", 1));
    EXPECT_FALSE(read_launch_lines("rm -rf /\n", 1));
    EXPECT_FALSE(read_launch_lines(line(0, "1", " -mca orte_hnp_uri \"0;tcp://x:1 $(id)\""), 1))
        << "a value for a shell";
}

TEST(OpenMpiDaemon, IsRebuiltFromKnownOptionsOnlyAndStartsNoOther) {
    const auto argv = daemon_argv("/usr/bin/orted", {{"ess_base_jobid", "7"}, {"orte_hnp_uri", "7.0;tcp://h:1"}}, 1);
    ASSERT_TRUE(argv) << argv.error();
    EXPECT_THAT(*argv,
                ElementsAre("/usr/bin/orted", "-mca", "ess", "env", "-mca", "plm", "rsh", "-mca", "plm_rsh_agent",
                            "/bin/false", "-mca", "plm_rsh_no_tree_spawn", "1", "-mca", "ess_base_vpid", "2", "-mca",
                            "ess_base_jobid", "7", "-mca", "orte_hnp_uri", "7.0;tcp://h:1"));
    EXPECT_FALSE(daemon_argv("/usr/bin/orted", {{"plm_rsh_agent", "/bin/sh"}}, 0));
    EXPECT_FALSE(daemon_argv("/usr/bin/orted", {{"mca_base_component_path", "/tmp"}}, 0));
    EXPECT_FALSE(daemon_argv("/usr/bin/orted", {{"orte_hnp_uri", "7.0; rm"}}, 0));
    EXPECT_FALSE(daemon_argv("/usr/bin/orted", {{"orte_hnp_uri", ""}}, 0));
}

TEST(OpenMpiDaemon, HasAFolderOfItsOwnOnlyWhereAsked) {
    EXPECT_THAT(daemon_environment("/steps/1", ""), Contains(Pair("ZBS_OUTPUT", "/steps/1")));
    EXPECT_THAT(daemon_environment("/steps/1", ""), Not(Contains(Pair(testing::StartsWith("OMPI_MCA_"), testing::_))));
    EXPECT_THAT(daemon_environment("/steps/1", "/steps/1"),
                testing::IsSupersetOf({Pair("OMPI_MCA_btl_vader_backing_directory", "/steps/1"),
                                       Pair("OMPI_MCA_orte_tmpdir_base", "/steps/1")}));
}

TEST(OpenMpiLauncher, PassesTheEnvironmentOnByNameAndTheProgramUnchanged) {
    const Options environment = {{"A", "x y"},
                                 {"OMPI_MCA_btl", "tcp,self"},
                                 {"OMPI_COMM_WORLD_RANK", "3"},
                                 {"OMPI_MCA_plm_rsh_agent", "ssh"},
                                 {"PMIX_RANK", "3"}};
    const std::vector<std::string> argv = launcher_argv({.mpiexec = "/opt/mpirun",
                                                         .interface = "eth0",
                                                         .directory = "/work",
                                                         .ranks = 4,
                                                         .argv = {"/bin/prog", "a b", "$x"},
                                                         .environment = environment});
    EXPECT_EQ(argv.front(), "/opt/mpirun");
    EXPECT_EQ(std::count(argv.begin(), argv.end(), "-x"), 1);
    EXPECT_THAT(argv, Contains("ZBS_RANK_ENV_A"));
    EXPECT_THAT(argv, Not(Contains("SHELL"))) << "ranks have the one of their account";
    EXPECT_THAT(argv, Not(Contains(HasSubstr("OMPI_MCA"))));
    EXPECT_THAT(argv, Not(Contains("mpi_yield_when_idle")));
    EXPECT_THAT(launcher_argv({.mpiexec = "/opt/mpirun", .ranks = 4, .argv = {"/bin/prog"}, .share_processors = true}),
                Contains("mpi_yield_when_idle"))
        << "ranks that wait let others have the processor";
    EXPECT_THAT(argv, Contains(HasSubstr("\"$ZBS_RANK_PROGRAM\" rank")));
    // The program and the folder, the program if it is staged, the user's words.
    EXPECT_EQ(std::vector<std::string>(argv.end() - 5, argv.end()),
              (std::vector<std::string>{"/bin/prog", "/work", "/bin/prog", "a b", "$x"}));
    EXPECT_THAT(launcher_environment(environment),
                ElementsAre(Pair("ZBS_RANK_ENV_A", "x y"), Pair("OMPI_MCA_btl", "tcp,self"), Pair("SHELL", "/bin/bash"),
                            Pair("OMPI_ALLOW_RUN_AS_ROOT", "1"), Pair("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")));
}

TEST(OpenMpiEnd, SignalsAreReadFromItsReport) {
    EXPECT_EQ(
        read_fatal_signal("mpirun noticed that process rank 1 with PID 9 on node zbs0 exited on signal 9 (Killed).\n"),
        9);
    EXPECT_EQ(read_fatal_signal("  Exit code:    7\n"), 0);
    EXPECT_EQ(read_first_rank(
                  "mpirun.openmpi noticed that process rank 12 with PID 9 on node zbs0 exited on signal 9 (Killed).\n"),
              12);
    EXPECT_EQ(read_first_rank("  Process name: [[24575,1],3]\n  Exit code:    7\n"), 3);
    for (const char* text : {"", "  Process name: [[24575\n,1],3]", "mpirun noticed that process rank x"})
        EXPECT_EQ(read_first_rank(text), -1) << text;
}

TEST(OpenMpiEnd, NamesTheRankThatAbortedOrLeftEarly) {
    const std::string abort =
        "MPI_ABORT was invoked on rank 12 in communicator MPI_COMM_WORLD\nwith errorcode 256.\n\nNOTE: ...\n";
    EXPECT_EQ(read_improper_end(abort), (RankEnd{.rank = 12, .how = RankEndKind::kAborted, .code = 256}));
    EXPECT_EQ(read_end(Launcher::kOpenMpi, 1, {}, abort), (RanksEnd{256, 0, 12, RankEndKind::kAborted}));
    const std::string left = "mpirun.openmpi has exited due to process rank 1 with PID 9 on\nnode zbs0 exiting";
    EXPECT_EQ(read_improper_end(left), (RankEnd{.rank = 1, .before_finalize = true}));
    for (const char* text :
         {"", "MPI_ABORT was invoked on rank 1 in communicator MPI COMMUNICATOR 3 SPLIT FROM 0\nwith errorcode 2.\n",
          "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode",
          "mpirun has exited due to process rank x"})
        EXPECT_EQ(read_improper_end(text), std::nullopt) << text;
}

TEST(SrunEnd, IsThatOfTheFirstRankThatFailed) {
    constexpr const char* kText =
        "srun: cluster configuration lacks support for cpu binding\nsrun: error: n2: task 2: Exited with exit code 9\n"
        "srun: launch/slurm: _step_signal: Terminating StepId=4.0\nsrun: error: n1: tasks 0-1: Terminated\n";
    EXPECT_EQ(read_end(Launcher::kSrunPmi2, 143, {}, kText), (RanksEnd{9, 0, 2}));
    EXPECT_EQ(
        read_end(Launcher::kSrunPmix, 143, {},
                 "srun: error: n2: task 3: Segmentation fault (core dumped)\nsrun: error: n1: tasks 0-1: Terminated\n"),
        (RanksEnd{139, 11, 3}));
    EXPECT_EQ(read_end(Launcher::kSrunPmi2, 1, {}, "srun: error: Unable to create step for job 3\n"), (RanksEnd{1, 0}));
    EXPECT_EQ(read_end(Launcher::kSrunPmi2, 7, {}, "srun: error: n1: tasks 0-1: Exited with exit code 7\n"),
              (RanksEnd{7, 0, -1}))
        << "which of them was first is not reported";
    EXPECT_EQ(read_end(Launcher::kSrunPmi2, 5, {}, {}), (RanksEnd{5, 0}));
}

TEST(OpenMpi, RanksYieldOnlyWhereAZoneHasThemShareProcessors) {
    Application application;
    application.request = {.ranks = 2, .argv = {"/bin/prog"}, .launcher = Launcher::kOpenMpi, .overcommit = 2};
    application.status.parts = {{.zone = "b", .ranks = {0, 1}}};
    application.status.parts[0].status.assignment = {{0, "m0", 0}, {1, "m0", 1}};
    EXPECT_THAT(launcher_step({}, application).argv, Not(Contains("mpi_yield_when_idle")));
    application.status.parts[0].overcommit = 2;
    EXPECT_THAT(launcher_step({}, application).argv, Contains("mpi_yield_when_idle"));
}

}  // namespace
}  // namespace zbs::open_mpi
