#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/messages/steps/rank_end.hpp"
#include "tests/support/temporary_folder.hpp"

// `zbs-step rank` between a script and the other end of its PMI socket and of its error output, which are the test's.

namespace zbs::process {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr const char* kLoaded = "/nowhere/libc.so.6";  ///< of the same name as a library of the script's shell
constexpr const char* kNotLoaded = "/nowhere/library.so";

class RankTest : public testing::Test {
  protected:
    RankTest() { signal(SIGCHLD, SIG_DFL); }  // a step executor made earlier in this program ignores it
    ~RankTest() override {
        for (const int fd : {pmi_, err_})
            if (fd >= 0) close(fd);
        if (child_ > 0 && status_ < 0) {
            kill(child_, SIGKILL);
            waitpid(child_, nullptr, 0);
        }
    }
    void start(const std::string& script) {
        int pair[2], pipe_ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
        child_ = fork();
        if (child_ == 0) {
            setsid();  // as the launcher's proxies do it
            dup2(pipe_ends[1], 2);
            fcntl(pair[1], F_SETFD, 0);
            setenv("PMI_FD", std::to_string(pair[1]).c_str(), 1);
            setenv(rank_variable_, rank_, 1);
            if (library_ != nullptr) {
                setenv(kRankPreloadVariable, library_, 1);
                setenv(kRankMachineVariable, "a.m0", 1);
                setenv("ZBS_PROFILE_OUT", folder_.path("model").c_str(), 1);
            }
            setenv("PMI_SIZE", std::to_string(ranks_).c_str(), 1);
            setenv(kRankEndsVariable, folder_.path("").c_str(), 1);
            if (!program_.empty()) execl(ZBS_STEP, ZBS_STEP, "rank", program_.c_str(), nullptr);
            execl(ZBS_STEP, ZBS_STEP, "rank", "/bin/bash", "-c", ("exec 9<&$PMI_FD; " + script).c_str(), nullptr);
            _exit(99);
        }
        close(pair[1]);
        close(pipe_ends[1]);
        pmi_ = pair[0];
        err_ = pipe_ends[0];
    }
    /// A file as the rank's program, in place of a script.
    void start_file(const std::string& bytes) {
        program_ = folder_.path("solver");
        ASSERT_TRUE(write_file(program_, bytes));
        ASSERT_EQ(chmod(program_.c_str(), 0755), 0);
        start({});
    }
    void check_fault(const std::string& bytes, int code, const std::string& why) {
        start_file(bytes);
        const std::string text = "cannot run " + program_ + ": " + why + "\n";
        EXPECT_EQ(read_from(err_), text);
        EXPECT_EQ(end(), code);
        const auto record = read_file(folder_.path(rank_end_file(3)));
        ASSERT_TRUE(record);
        EXPECT_EQ(std::string(rank_fault(*record)) + "\n", text);
    }
    /// What comes next; empty where nothing comes in time, or nothing more.
    static std::string read_from(int fd) {
        pollfd waiting{fd, POLLIN, 0};
        char text[512];
        if (poll(&waiting, 1, kPatienceMs) <= 0) return {};
        const ssize_t got = read(fd, text, sizeof text);
        return {text, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    }
    /// Nothing comes, and it goes on.
    static bool is_quiet(int fd) {
        pollfd waiting{fd, POLLIN, 0};
        return poll(&waiting, 1, 500) == 0;
    }
    /// Whoever could write there has ended, in time.
    static bool is_at_its_end(int fd) {
        pollfd waiting{fd, POLLIN, 0};
        return poll(&waiting, 1, kPatienceMs) == 1 && (waiting.revents & POLLHUP) != 0;
    }
    void answer(const std::string& text) {
        ASSERT_EQ(send(pmi_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    }
    int end() {
        EXPECT_EQ(waitpid(child_, &status_, 0), child_);
        return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
    }
    /// The launcher's side of one request.
    void serve(const std::string& request, const std::string& reply) {
        ASSERT_EQ(read_from(pmi_), request + "\n");
        answer(reply + "\n");
    }
    void serve_key(const std::string& command, const std::string& key, bool is_there) {
        serve("cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_7");
        serve("cmd=" + command + " kvsname=kvs_7 key=" + key,
              is_there ? "cmd=result rc=0 msg=success value=1" : "cmd=result rc=-1 msg=not_found value=unknown");
    }
    /// Until the rank has left without MPI_Init, and all others have left or wait there.
    void serve_leaving() {
        serve("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init rc=0");
        serve_key("put", "zbs-left value=1", true);
        serve("cmd=barrier_in", "cmd=barrier_out");
        serve("cmd=barrier_in", "cmd=barrier_out");
    }
    std::optional<RankEnd> recorded() {
        const auto text = read_file(folder_.path(rank_end_file(3)));
        return text ? read_rank_end(rank_end_file(3), *text) : std::nullopt;
    }

    test::TemporaryFolder folder_;
    pid_t child_ = -1;
    int status_ = -1, pmi_ = -1, err_ = -1, ranks_ = 1;
    const char* rank_ = "3";
    const char* rank_variable_ = "PMI_RANK";
    std::string program_;
    const char* library_ = nullptr;  ///< that the zone preloads
};

/// One of four ranks.
class RanksTest : public RankTest {
  protected:
    RanksTest() { ranks_ = 4; }
    void check_exit_before_init(int code, int exit_code) {
        start("exit " + std::to_string(code));
        serve_leaving();
        serve_key("get", "zbs-begun", true);
        EXPECT_EQ(read_from(pmi_), "cmd=abort exitcode=" + std::to_string(exit_code) + "\n");
        EXPECT_EQ(end(), code);
        ASSERT_TRUE(recorded());
        EXPECT_EQ(describe(*recorded(), ""), "rank 3 exited with code " + std::to_string(code) + " before MPI_Init");
        EXPECT_EQ(exit_code_of(*recorded()), exit_code);
    }
};

TEST_F(RankTest, AGoodEndLeavesNoRecord) {
    start("echo cmd=init >&9; read answer <&9; echo \"cmd=finalize $answer\" >&9");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    answer("rc=0\n");
    EXPECT_EQ(read_from(pmi_), "cmd=finalize rc=0\n");
    EXPECT_EQ(end(), 0);
    EXPECT_FALSE(recorded());
}

TEST_F(RankTest, AnExitBeforeFinalizingIsRecordedAsSuch) {
    start("echo cmd=init >&9; exit 7");
    EXPECT_EQ(end(), 7);
    ASSERT_TRUE(recorded());
    EXPECT_EQ(describe(*recorded(), ""), "rank 3 exited with code 7 before MPI_Finalize");
    EXPECT_FALSE(recorded()->in_stop);
}

TEST_F(RankTest, AGoodCodeBeforeFinalizingIsNone) {
    start("echo cmd=init >&9; exit 0");
    EXPECT_EQ(end(), 0);
    ASSERT_TRUE(recorded());
    EXPECT_TRUE(recorded()->before_finalize);
}

TEST_F(RankTest, ABadCodeAfterFinalizingIsRecorded) {
    start("echo cmd=init >&9; echo cmd=finalize >&9; exit 3");
    EXPECT_EQ(end(), 3);
    ASSERT_TRUE(recorded());
    EXPECT_EQ(describe(*recorded(), ""), "rank 3 exited with code 3");
}

TEST_F(RankTest, ItEndsByTheSignalThatEndedItsRank) {
    start("kill -SEGV $$");
    EXPECT_EQ(end(), 139);
    ASSERT_TRUE(recorded());
    EXPECT_EQ(describe(*recorded(), ""), "rank 3 ended by signal 11");
}

TEST_F(RankTest, AProgramThatCannotBeRunIsNamed) {
    start("exec /no/such/program");
    EXPECT_THAT(read_from(err_), testing::HasSubstr("/no/such/program"));
    EXPECT_EQ(end(), 127);
    EXPECT_EQ(recorded()->code, 127);
}

TEST_F(RankTest, AnInterpreterThatIsMissingIsNamed) {
    check_fault("#! /nowhere/python3 -u\nprint()\n", 127,
                "its interpreter /nowhere/python3: No such file or directory");
}

TEST_F(RankTest, AnInterpreterThatEnvCannotFindIsNamed) {
    check_fault("#!/usr/bin/env no-such-python\nprint()\n", 127, "its interpreter no-such-python is not in PATH");
}

TEST_F(RankTest, ALineThatEndsAsOnWindowsIsNamed) {
    check_fault("#!/bin/sh\r\nexit 0\r\n", 127,
                "the line of its interpreter, /bin/sh, ends in a carriage return (Windows line ends)");
}

TEST_F(RankTest, ALineOfEnvThatEndsAsOnWindowsIsNamed) {
    check_fault("#!/usr/bin/env sh\r\nexit 0\r\n", 127,
                "the line of its interpreter, /usr/bin/env sh, ends in a carriage return (Windows line ends)");
}

TEST_F(RankTest, TheMachineThatAProgramWasBuiltForIsNamed) {
    auto bytes = read_file("/proc/self/exe");
    ASSERT_TRUE(bytes);
    bytes->resize(64);
    const bool is_little = (*bytes)[5] == 1;
    (*bytes)[is_little ? 18 : 19] = 22;  // S/390
    (*bytes)[is_little ? 19 : 18] = 0;
    start_file(*bytes);
    EXPECT_THAT(read_from(err_), testing::HasSubstr("Exec format error: it is built for S/390, and this machine is "));
    EXPECT_EQ(end(), 126);
}

TEST_F(RankTest, AFolderThatItsShellCouldNotEnterIsNamed) {
    program_ = "/no such/";
    start({});
    EXPECT_EQ(read_from(err_), "cannot enter folder /no such: No such file or directory\n");
    EXPECT_EQ(end(), 127);
}

TEST_F(RankTest, UnderOpenMpiAProgramThatCannotRunIsRecorded) {
    rank_variable_ = "OMPI_COMM_WORLD_RANK";
    check_fault("#!/nowhere/python3\n", 127, "its interpreter /nowhere/python3: No such file or directory");
}

TEST_F(RankTest, UnderOpenMpiAnEndIsRecorded) {
    rank_variable_ = "OMPI_COMM_WORLD_RANK";
    start("kill -TERM $$");
    EXPECT_EQ(end(), 143);
    EXPECT_TRUE(WIFSIGNALED(status_));
    EXPECT_TRUE(recorded());
}

TEST_F(RankTest, ANewlineInANameDoesNotCutTheReason) {
    program_ = "/no\nsuch/";
    start({});
    EXPECT_EQ(read_from(err_), "cannot enter folder /no?such: No such file or directory\n");
    EXPECT_EQ(end(), 127);
    const auto record = read_file(folder_.path(rank_end_file(3)));
    ASSERT_TRUE(record);
    EXPECT_EQ(rank_fault(*record), "cannot enter folder /no?such: No such file or directory");
}

TEST_F(RankTest, NoShellRunsWhatIsNoText) {
    check_fault(std::string("echo begun >&2\0", 15) + "\necho begun >&2\n", 126, "Exec format error");
}

TEST_F(RankTest, NoShellRunsAnElfFileThatIsCut) {
    check_fault(
        "\x7f"
        "ELF\necho begun >&2\n",
        126, "Exec format error");
}

TEST_F(RankTest, ATextWithoutInterpreterIsRunByAShell) {
    start_file("echo \"begun as $0\" >&2\n");
    EXPECT_EQ(read_from(err_), "begun as " + program_ + "\n");
    EXPECT_EQ(end(), 0);
}

TEST_F(RankTest, AProgramWithoutThePreloadedLibraryIsReportedInInit) {
    library_ = kNotLoaded;
    start("echo cmd=init >&9; read answer <&9; echo cmd=finalize >&9");
    EXPECT_EQ(read_from(err_),
              "zbs: rank 3 on a.m0 runs without ZBS's library (LD_PRELOAD was removed); its messages are not counted "
              "and MPI_Finalize may hang over TCP\n");
    answer("rc=0\n");
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(read_from(err_), "");
    EXPECT_EQ(describe_finding(read_file(folder_.path(".zbs-unusual")).value_or("")),
              "rank 3 runs without ZBS's library (LD_PRELOAD was removed)");
}

TEST_F(RankTest, AProgramWithMpiAndWithoutTheVariablesOfTheLauncherIsReported) {
    // Any library under the name of MPI's.
    const std::string mpi = folder_.path("libmpi.so.12");
    Dl_info library{};
    ASSERT_NE(dladdr(dlsym(dlopen("libm.so.6", RTLD_LAZY), "cbrt"), &library), 0);
    ASSERT_TRUE(write_file(mpi, read_file(library.dli_fname, std::size_t{16} << 20).value_or("")));
    start("env -i LD_PRELOAD=" + mpi + " sleep 60");
    EXPECT_EQ(read_from(err_),
              "zbs: rank 3 runs alone (its program lacks the variables of the MPI launcher); each rank is then rank "
              "0 of 1: keep the environment (no env -i)\n");
    kill(child_, SIGTERM);
    EXPECT_EQ(describe_finding(read_file(folder_.path(".zbs-unusual")).value_or("")),
              "rank 3 runs alone (its program lacks the variables of the MPI launcher)");
}

TEST_F(RankTest, AProgramThatCannotBePreloadedIsReportedAsSuch) {
    library_ = kNotLoaded;
    start("exec env LD_PRELOAD=/nowhere/library.so bash -c 'echo cmd=init >&9; read answer <&9' 2>/dev/null");
    EXPECT_THAT(read_from(err_), testing::HasSubstr("(it is linked statically or setuid)"));
    answer("rc=0\n");
    EXPECT_EQ(end(), 0);
}

TEST_F(RankTest, RanksWithoutThePreloadedLibraryAreReportedOnce) {
    library_ = kNotLoaded;
    ASSERT_TRUE(write_file(folder_.path(".zbs-unusual"), ""));
    start("echo cmd=init >&9; read answer <&9; echo cmd=finalize >&9");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    answer("rc=0\n");
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(read_from(err_), "");
}

TEST_F(RankTest, AScriptWithoutMpiNeedsNoLibrary) {
    library_ = kNotLoaded;
    start("exit 0");
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(read_from(err_), "");
}

TEST_F(RankTest, CallsThatDoNotReachThePreloadedLibraryAreReported) {
    rank_ = "0";
    library_ = kLoaded;
    start("echo cmd=init >&9; echo cmd=finalize >&9");
    EXPECT_THAT(read_from(err_), testing::HasSubstr("do not reach the preloaded library"));
    EXPECT_EQ(end(), 0);
}

TEST_F(RankTest, CallsThatReachThePreloadedLibraryAreNot) {
    rank_ = "0";
    library_ = kLoaded;
    start("echo cmd=init >&9; echo cmd=finalize >&9; : > \"$ZBS_PROFILE_OUT.finalized\"");
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(read_from(err_), "");
}

TEST_F(RanksTest, AnExitBeforeInitEndsTheRanksThatWaitThere) { check_exit_before_init(4, 4); }

TEST_F(RanksTest, AGoodCodeBeforeInitEndsThemToo) { check_exit_before_init(0, 1); }

TEST_F(RanksTest, AProgramWithoutMpiEndsAsItLikes) {
    start("exit 0");
    serve_leaving();
    serve_key("get", "zbs-begun", false);
    serve("cmd=finalize", "cmd=finalize_ack");
    EXPECT_EQ(end(), 0);
    EXPECT_FALSE(recorded());
}

TEST_F(RanksTest, AStopEndsTheWaitForRanksThatMayBegin) {
    start("exit 0");
    serve("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init rc=0");
    serve_key("put", "zbs-left value=1", true);
    EXPECT_EQ(read_from(pmi_), "cmd=barrier_in\n");
    EXPECT_TRUE(is_quiet(pmi_));
    kill(child_, SIGTERM);
    serve("cmd=finalize", "cmd=finalize_ack");
    EXPECT_EQ(end(), 0);
}

TEST_F(RanksTest, ARankIsHeldInInitIfAnotherOneHasLeft) {
    start("echo cmd=init >&9; echo cmd=barrier_in >&9; read answer <&9; echo \"went on\" >&9");
    std::string begun = read_from(pmi_);
    if (begun == "cmd=init\n") begun += read_from(pmi_);
    ASSERT_EQ(begun, "cmd=init\ncmd=barrier_in\n");
    answer("cmd=barrier_out\n");
    serve_key("get", "zbs-left", true);
    serve_key("put", "zbs-begun value=1", true);
    EXPECT_EQ(read_from(pmi_), "cmd=barrier_in\n");
    answer("cmd=barrier_out\n");
    EXPECT_TRUE(is_quiet(pmi_));
    kill(child_, SIGKILL);  // as the launcher does it when the job is aborted
}

TEST_F(RanksTest, ARankGoesOnIfNoneHasLeft) {
    start("echo cmd=init >&9; echo cmd=barrier_in >&9; read answer <&9; echo \"cmd=finalize $answer\" >&9");
    std::string begun = read_from(pmi_);
    if (begun == "cmd=init\n") begun += read_from(pmi_);
    answer("cmd=barrier_out\n");
    serve_key("get", "zbs-left", false);
    EXPECT_EQ(read_from(pmi_), "cmd=finalize cmd=barrier_out\n");
    EXPECT_EQ(end(), 0);
}

/// The launcher ends when it hears of the abort, and loses what it has not read then.
TEST_F(RankTest, AnAbortIsPassedOnOnceTheOutputHasBeenRead) {
    start("echo cmd=init >&9; echo 'the matrix is singular' >&2; echo cmd=abort exitcode=5 >&9; read answer <&9");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    EXPECT_TRUE(is_quiet(pmi_)) << "the output has not been read";
    EXPECT_EQ(read_from(err_), "the matrix is singular\n");
    EXPECT_EQ(read_from(pmi_), "cmd=abort exitcode=5\n");
    ASSERT_TRUE(recorded());
    EXPECT_EQ(describe(*recorded(), ""), "rank 3 called MPI_Abort with code 5");
    answer("\n");
    end();
    EXPECT_EQ(recorded()->how, RankEndKind::kAborted) << "the first of its ends counts";
}

TEST_F(RankTest, AnEndIsNoticedOnceTheOutputHasBeenRead) {
    start("echo cmd=init >&9; echo 'no memory left' >&2; exit 1");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    EXPECT_TRUE(is_quiet(pmi_)) << "the proxy would end the others";
    EXPECT_EQ(read_from(err_), "no memory left\n");
    EXPECT_EQ(end(), 1);
}

TEST_F(RankTest, KilledWithItsRankItRecordsNothing) {
    start("echo cmd=init >&9; exec sleep 60");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    kill(child_, SIGKILL);
    EXPECT_EQ(end(), 137);
    EXPECT_TRUE(is_at_its_end(err_)) << "the rank is gone, too";
    EXPECT_FALSE(recorded());
}

/// The end of a job is announced to all of its processes: what the rank makes of it is its end.
TEST_F(RankTest, APoliteSignalIsTheRanks) {
    start("trap 'exit 4' TERM; echo cmd=init >&9; read answer <&9; echo cmd=finalize >&9");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    kill(child_, SIGTERM);
    answer("\n");
    EXPECT_EQ(read_from(pmi_), "cmd=finalize\n");
    EXPECT_EQ(end(), 0) << "it was not for the supervisor";
}

/// The byte that the preloaded library leaves after MPI_Finalize has no time.
TEST_F(RankTest, AStopBeforeMpiFinalizeIsNotedAndOneBehindItIsNot) {
    for (const bool is_stopped_first : {true, false}) {
        start("echo cmd=init >&9; read answer <&9; echo cmd=finalize >&9; read answer <&9");
        EXPECT_EQ(read_from(pmi_), "cmd=init\n");
        if (is_stopped_first) kill(child_, SIGTERM);
        answer("\n");
        EXPECT_EQ(read_from(pmi_), "cmd=finalize\n");
        if (!is_stopped_first) kill(child_, SIGTERM);
        answer("\n");
        EXPECT_EQ(end(), 0);
        EXPECT_EQ(read_file(folder_.path(".zbs-at-work")), is_stopped_first ? std::optional("3") : std::nullopt);
        unlink(folder_.path(".zbs-at-work").c_str());
    }
}

/// The launcher would end all other ranks, which may have something to save still.
TEST_F(RankTest, InAStopTheLauncherSeesEveryEndAsAGoodOne) {
    start("echo cmd=init >&9; read answer <&9; exit 7");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    kill(child_, SIGTERM);
    answer("\n");
    EXPECT_EQ(read_from(pmi_), "cmd=finalize\n");
    answer("cmd=finalize_ack\n");
    EXPECT_EQ(end(), 0);
    ASSERT_TRUE(recorded());
    EXPECT_EQ(describe(*recorded(), ""), "rank 3 exited with code 7 before MPI_Finalize");
    EXPECT_TRUE(recorded()->in_stop);
}

/// The preloaded library leaves the file before MPI_Abort, which is an exit for a communicator of one rank.
TEST_F(RankTest, AnExitByMpiAbortIsRecordedAsAnAbort) {
    for (const bool is_stopped : {false, true}) {
        start("echo cmd=init >&9; read answer <&9; printf 259 > \"$ZBS_RANK_ENDS/.zbs-abort.3\"; exit 3");
        EXPECT_EQ(read_from(pmi_), "cmd=init\n");
        if (is_stopped) kill(child_, SIGTERM);
        answer("\n");
        EXPECT_EQ(read_from(pmi_), is_stopped ? "cmd=abort exitcode=3\n" : "") << "the job need not wait in a stop";
        EXPECT_EQ(end(), is_stopped ? 0 : 3);
        ASSERT_TRUE(recorded());
        EXPECT_EQ(describe(*recorded(), ""), "rank 3 called MPI_Abort with code 259 (exit code 3)");
    }
}

TEST_F(RankTest, InAStopAnAbortEndsItsRankOnly) {
    start("echo cmd=init >&9; read answer <&9; echo cmd=abort exitcode=5 >&9; exit 5");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    kill(child_, SIGTERM);
    answer("\n");
    EXPECT_EQ(read_from(pmi_), "cmd=finalize\n");
    answer("cmd=finalize_ack\n");
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(recorded()->how, RankEndKind::kAborted);
}

/// Nobody else knows that a signal ended the program: launcher and proxy end with 0.
TEST_F(RankTest, InAStopAProgramWithoutMpiHasNoGoodEnd) {
    start("trap 'exit 0' TERM; echo up >&2; read answer <&9");
    EXPECT_EQ(read_from(err_), "up\n");
    kill(child_, SIGTERM);
    answer("\n");
    EXPECT_EQ(end(), 0);
    ASSERT_TRUE(recorded());
    EXPECT_TRUE(recorded()->in_stop);
}

/// A shell that started the program ends by the signal; the program saves, and what it prints is read.
TEST_F(RankTest, InAStopProcessesThatTheRankLeftHaveTheirTime) {
    start("(until [ -e " + folder_.path("save") + " ]; do sleep 0.02; done; echo saved >&2) & echo cmd=init >&9; " +
          "read answer <&9; kill -TERM $$");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    kill(child_, SIGTERM);
    answer("\n");
    EXPECT_TRUE(is_quiet(err_));
    ASSERT_TRUE(write_file(folder_.path("save"), ""));
    EXPECT_EQ(read_from(err_), "saved\n");
    EXPECT_EQ(read_from(pmi_), "cmd=finalize\n");
    answer("cmd=finalize_ack\n");
    EXPECT_EQ(end(), 0);
}

/// The daemon of Open MPI ends with its last rank, and does not wait for the output of others as MPICH's proxy does.
TEST_F(RankTest, ProcessesThatARankOfOpenMpiLeftHaveTimeToPrint) {
    rank_variable_ = "OMPI_COMM_WORLD_RANK";
    start("(until [ -e " + folder_.path("go") + " ]; do sleep 0.02; done; echo late >&2) & exit 0");
    EXPECT_TRUE(is_quiet(err_));
    EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);
    ASSERT_TRUE(write_file(folder_.path("go"), ""));
    EXPECT_EQ(read_from(err_), "late\n");
    EXPECT_EQ(end(), 0);
}

TEST_F(RankTest, ASignalFromItsOwnJobIsNoStop) {
    start("kill -TERM $PPID; echo cmd=init >&9; exit 7");
    EXPECT_EQ(read_from(pmi_), "cmd=init\n");
    EXPECT_EQ(end(), 7);
}

}  // namespace
}  // namespace zbs::process
