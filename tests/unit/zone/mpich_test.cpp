#include "services/zone_scheduler/launch/mpich.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace zbs::mpich {
namespace {

// As MPICH 4.0.2 prints it.
constexpr const char* kOutput =
    "HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --control-port 127.0.0.1:33099 --rmk user --launcher manual --demux poll "
    "--iface lo --pgid 0 --retries 10 "
    "--usize -2 --pmi-port 0 --gpus-per-proc -2 --proxy-id 0 \n"
    "HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --control-port 127.0.0.1:33099 --rmk user --launcher manual --demux poll "
    "--iface lo --pgid 0 --retries 10 "
    "--usize -2 --pmi-port 0 --gpus-per-proc -2 --proxy-id 1 \n"
    "HYDRA_LAUNCH_END\n";

TEST(ReadLaunchLines, OptionsAndNumberOfProxies) {
    const auto lines = read_launch_lines(kOutput);
    ASSERT_TRUE(lines) << lines.error();
    EXPECT_TRUE(lines->done);
    EXPECT_EQ(lines->proxies, 2);
    EXPECT_EQ(lines->options.front(), (std::pair<std::string, std::string>{"control-port", "127.0.0.1:33099"}));
    EXPECT_EQ(lines->options.size(), 10U);
}

TEST(ReadLaunchLines, IsNotDoneAtAnyCutOfTheText) {
    const std::string text = kOutput;
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
        const auto lines = read_launch_lines(std::string_view(text).substr(0, cut));
        ASSERT_TRUE(lines) << "cut at " << cut << ": " << lines.error();
        EXPECT_FALSE(lines->done) << "cut at " << cut;
    }
}

TEST(ReadLaunchLines, RefusesWhatIsNoKnownOption) {
    EXPECT_FALSE(read_launch_lines("HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --launcher-exec /bin/sh --proxy-id 0 \n"));
    EXPECT_FALSE(read_launch_lines("HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --launcher ssh --proxy-id 0 \n"));
}

TEST(ProxyArgv, IsRebuiltFromKnownOptionsOnly) {
    const auto argv = proxy_argv("/opt/proxy", {{"control-port", "10.0.0.1:5"}, {"pgid", "0"}}, 3);
    ASSERT_TRUE(argv);
    EXPECT_EQ(*argv, (std::vector<std::string>{"/opt/proxy", "--control-port", "10.0.0.1:5", "--pgid", "0",
                                               "--proxy-id", "3"}));
    EXPECT_FALSE(proxy_argv("/opt/proxy", {{"launcher-exec", "/bin/sh"}}, 0));
    EXPECT_FALSE(proxy_argv("/opt/proxy", {{"control-port", "h:1; rm -rf"}}, 0));
    EXPECT_FALSE(proxy_argv("/opt/proxy", {{"launcher", "ssh"}}, 0));
    EXPECT_FALSE(proxy_argv("/opt/proxy", {{"iface", ""}}, 0));
}

TEST(RankArgv, IsTheProgramItself) {
    const std::vector<std::string> argv = {"/p", "=", "-n", "[1]", "", "a:b"};
    EXPECT_EQ(rank_argv({.mpiexec = "m", .interface = {}, .directory = "/d", .argv = argv}), argv);
}

TEST(RankArgv, HasNoWordThatEndsAProgramForALauncher) {
    for (const bool is_staged : {false, true}) {
        const auto argv = rank_argv({.mpiexec = "m",
                                     .interface = {},
                                     .directory = "/d",
                                     .argv = {"/p", "a", ":", "=x", "=:"},
                                     .is_staged = is_staged,
                                     .staged_program = "p"});
        EXPECT_EQ(argv.front(), "/bin/sh");
        EXPECT_EQ(std::ranges::count(argv, ":"), 0);
        EXPECT_EQ(std::vector<std::string>(argv.end() - 4, argv.end()),
                  (std::vector<std::string>{"a", "=:", "==x", "==:"}));
    }
}

/// What a rank prints whose supervisor is `echo`, in a zone that names this folder of staged files.
std::string rank_prints(const CoordinatorSpec& spec, const char* staged, const char* supervisor = "/bin/echo") {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        setenv("ZBS_RANK_ENDS", "/", 1);
        setenv("ZBS_RANK_PROGRAM", supervisor, 1);
        for (const auto& [name, value] : carried_environment(spec.environment)) setenv(name.c_str(), value.c_str(), 1);
        setenv("ZBS_STAGED", staged, 1);
        std::vector<std::string> words = watched_argv(spec);
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        if (chdir("/") == 0) execv(argv[0], argv.data());
        _exit(99);
    }
    close(ends[1]);
    std::string text;
    char chunk[512];
    for (ssize_t got; (got = read(ends[0], chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return text;
}

TEST(WatchedArgv, EachRankEntersTheFolderOfItsZoneAndIsWatched) {
    CoordinatorSpec spec{.mpiexec = "m", .interface = {}, .directory = "/tmp", .argv = {"/bin/p", "a  b", "-n"}};
    EXPECT_EQ(rank_prints(spec, ""), "rank /bin/p a  b -n\n");
    spec.is_staged = true;
    spec.staged_program = "p";
    EXPECT_EQ(rank_prints(spec, "/tmp"), "rank ./p a  b -n\n");
    EXPECT_EQ(rank_prints(spec, ""), "rank /bin/p a  b -n\n") << "a zone that was sent nothing";
}

TEST(WatchedArgv, AFolderThatCannotBeEnteredIsReportedByTheSupervisor) {
    CoordinatorSpec spec{.mpiexec = "m", .interface = {}, .directory = "/no such", .argv = {"/bin/p", "a"}};
    EXPECT_EQ(rank_prints(spec, ""), "rank /no such/\n");
    spec.is_staged = true;
    EXPECT_EQ(rank_prints(spec, "/nor this"), "rank /nor this/\n");
}

TEST(WatchedArgv, TheProgramAloneGetsTheUsersVariables) {
    const CoordinatorSpec spec{.mpiexec = "m",
                               .interface = {},
                               .directory = "/tmp",
                               .argv = {"/usr/bin/env"},
                               .environment = {{"LD_BIND_NOW", "a \"b\" $c\n"}, {"PATH", "/mine"}}};
    for (const auto& [name, value] : carried_environment(spec.environment)) EXPECT_TRUE(name.starts_with("ZBS_RANK_"));
    const std::string printed = rank_prints(spec, "", "/not here");
    EXPECT_THAT(printed, testing::HasSubstr("\nLD_BIND_NOW=a \"b\" $c\n\n"));
    EXPECT_THAT(printed, testing::HasSubstr("\nPATH=/mine\n"));
    EXPECT_THAT(printed, testing::Not(testing::HasSubstr("ZBS_RANK_ENV_")));
}

TEST(PlanProxies, OnePerRunOfConsecutiveRanksOnOneMachine) {
    const auto proxies = plan_proxies({{"a", "m0"}, {"a", "m0"}, {"b", "m0"}, {"a", "m0"}, {"a", "m1"}});
    EXPECT_EQ(proxies, (std::vector<ProxyPlan>{
                           {0, "a", "m0", 0, 2}, {1, "b", "m0", 2, 3}, {2, "a", "m0", 3, 4}, {3, "a", "m1", 4, 5}}));
    EXPECT_EQ(host_file(proxies), "a.m0:2\nb.m0:1\na.m0:1\na.m1:1\n");
}

TEST(ProgramEnvironment, DropsWhatSteersTheLauncherOrBelongsToAJobAround) {
    const Options kept = program_environment({{"HOME", "/h"},
                                              {"HYDRA_DEBUG", "1"},
                                              {"LD_PRELOAD", "/x/libzbs-profile.so"},
                                              {"MPIEXEC_TIMEOUT", "1"},
                                              {"OMP_NUM_THREADS", "2"},
                                              {"PMI_RANK", "0"},
                                              {"ZBS_APPLICATION", "x"},
                                              {"ZBS_STEP_run_1", "1"},
                                              {"ZBS_TEST_VAR", "kept"}});
    EXPECT_EQ(kept, (Options{{"HOME", "/h"}, {"OMP_NUM_THREADS", "2"}, {"ZBS_TEST_VAR", "kept"}}));
    EXPECT_EQ(program_environment({{"LD_PRELOAD", "/x/other.so"}}).size(), 1U);
    EXPECT_EQ(rank_environment({{"A", "b"}}), (Options{{"A", "b"}, {"MPIR_CVAR_NOLOCAL", "1"}}));
    EXPECT_EQ(rank_environment({{"MPIR_CVAR_NOLOCAL", "0"}}), (Options{{"MPIR_CVAR_NOLOCAL", "0"}}));
}

TEST(WithoutOwnLines, LinesOfHydraItselfAreLeftOutAlsoWhileTheTextGrows) {
    const std::string text =
        "[mpiexec@vm] HYDU_sock_write (utils/sock/sock.c:254): write error (Bad file descriptor)\n"
        "[proxy:0:0@vm] HYD_pmcd_pmip_control_cmd_cb (pm/pmiserv/pmip_cb.c:480): assert (!closed) failed\n"
        "of a user\n"
        "[mpiexec@vm] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed\n"
        "[mpiexec@vm] HYDT_dmxu_poll_wait_for_event (tools/demux/demux_poll.c:76): callback returned error status\n"
        "[mpiexec@vm] main (ui/mpich/mpiexec.c:325): process manager error waiting for completion\n"
        "at the end";
    const std::string kept = "of a user\nat the end";
    EXPECT_EQ(own_fault(text), "write error (Bad file descriptor)");
    EXPECT_EQ(without_own_lines(text), kept);
    for (std::size_t size = 0; size <= text.size(); ++size)
        EXPECT_TRUE(kept.starts_with(without_own_lines(std::string_view(text).substr(0, size)))) << size;
}

TEST(OwnFault, IsTheSentenceOfTheFirstLineThatHasOne) {
    EXPECT_EQ(own_fault("of a user\n[mpiexec@vm] \n[proxy:0:1@vm] match_arg: unknown option\n"),
              "match_arg: unknown option");
    for (const char* none : {"", "of a user (a.c:1): fault\n", "[mpiexec@", "[mpiexec@vm]"})
        EXPECT_EQ(own_fault(none), "") << none;
}

TEST(ReadFatalSignal, OnlyFromTheReport) {
    EXPECT_TRUE(lost_a_proxy(
        "[mpiexec@vm] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed\n[mpiexec@vm] x\n"));
    EXPECT_TRUE(
        lost_a_proxy("[mpiexec@vm] HYDU_sock_read (utils/sock/sock.c:210): read error (Connection timed out)\n"
                     "[mpiexec@vm] control_cb (pm/pmiserv/pmiserv_cb.c:205): unable to read command from proxy\n"));
    EXPECT_FALSE(lost_a_proxy("control_cb: assert (!closed) failed\n"));
    EXPECT_FALSE(
        lost_a_proxy("[mpiexec@vm] control_cb (pm/pmiserv/pmiserv_cb.c:206): all is well\nassert (!closed) failed\n"));
    EXPECT_EQ(read_fatal_signal("x\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"), 9);
    EXPECT_EQ(read_fatal_signal("=   EXIT CODE: 9\n"), 0);
    EXPECT_EQ(read_fatal_signal("the program says (signal 9)\n"), 0);
    EXPECT_EQ(read_fatal_signal("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: odd (signal x)\n"), 0);
    const std::string report = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 7 RUNNING AT ";
    EXPECT_EQ(read_fatal_place("x\n" + report + "b.n0\n=   EXIT CODE: 9\n"), "b.n0");
    EXPECT_EQ(read_fatal_place("=   PID 7 RUNNING AT b.n0\n"), "");
}

}  // namespace
}  // namespace zbs::mpich
