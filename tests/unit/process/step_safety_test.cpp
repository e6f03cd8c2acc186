#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/process/step_fixture.hpp"

// What a job has and has not, with the real supervisor. The attacks are in tests/integration/job_safety.

namespace zbs::process {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StepSafety : public StepExecutorTest {
  protected:
    bool has_namespaces() { return executor->protection().text.find("jobs do not see") != std::string::npos; }
    static std::vector<std::string> lines(const std::string& text) {
        std::vector<std::string> found;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) found.push_back(line);
        return found;
    }
};

TEST_F(StepSafety, AJobHasNoPrivilegesAndGetsNone) {
    const std::string status = output("privileges", "cat /proc/self/status");
    EXPECT_THAT(status, AllOf(HasSubstr("NoNewPrivs:\t1\n"), HasSubstr("CapPrm:\t0000000000000000\n"),
                              HasSubstr("CapEff:\t0000000000000000\n"), HasSubstr("CapInh:\t0000000000000000\n")));
    EXPECT_THAT(status, AllOf(HasSubstr("SigBlk:\t0000000000000000\n"),
                              testing::ContainsRegex("SigIgn:\t0000000[01][08]0000000\n")));
}

TEST_F(StepSafety, AJobIsLimitedAndFirstToGo) {
    open({.max_open_files = 123});
    EXPECT_EQ(output("limits", "ulimit -Sc; ulimit -Hc; ulimit -Sn; ulimit -Hn; umask; cat /proc/self/oom_score_adj"),
              "0\n0\n123\n123\n0077\n500\n");
}

TEST_F(StepSafety, TheEnvironmentIsExactlyWhatWasGiven) {
    setenv("ZBS_IDENTITY", "secret", 1);
    setenv("ZBS_TOKEN", "secret", 1);
    StepSpec spec{.step_id = "exact", .argv = {"/usr/bin/env"}, .environment = {{"GIVEN", "a\nb"}, {"EMPTY", ""}}};
    ASSERT_TRUE(executor->start(spec));
    wait("exact");
    unsetenv("ZBS_IDENTITY");
    unsetenv("ZBS_TOKEN");
    EXPECT_EQ(text("exact", ".zbs-stdout"),
              "GIVEN=a\nb\nEMPTY=\nPATH=/usr/local/bin:/usr/bin:/bin\nZBS_STEP_exact=1\n");
}

TEST_F(StepSafety, AJobsPreloadedLibraryIsNotItsSupervisors) {
    StepSpec spec;
    spec.environment = {{"LD_PRELOAD", "/no/such/library.so"}};
    ASSERT_TRUE(start("preload", "true", spec));
    wait("preload");
    EXPECT_THAT(text("preload", ".zbs-stderr"), HasSubstr("/no/such/library.so")) << "the loader complains to the job";
    EXPECT_EQ(read_file(folder.path("steps/preload/supervisor.log")), "");
}

TEST_F(StepSafety, VariablesThatAreNoneAreRefused) {
    StepSpec spec;
    spec.environment = {{"A=B", "x"}};
    const auto started = start("name", "true", spec);
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(executor->status("name").state, StepStatus::State::kUnknown);
}

TEST_F(StepSafety, AJobSeesItsOwnFolderAndNoOther) {
    if (!has_namespaces()) GTEST_SKIP() << executor->protection().text;
    ASSERT_TRUE(start("other", "echo secret > mine; sleep 60"));
    EXPECT_EQ(output("looks", "ls ..; ls ../..; ls ../../other; echo x > ../exit"), "job\nlooks\n");
    EXPECT_EQ(wait("looks").exit_code, 2) << "the shell's code for a file that cannot be written";
}

TEST_F(StepSafety, AFolderThatIsSharedCanBeWritten) {
    ASSERT_TRUE(start("first", "sleep 60"));
    StepSpec spec;
    spec.shares = {"first"};
    output("second", "echo shared > ../../first/job/from-second", spec);
    EXPECT_EQ(text("first", "from-second"), "shared\n");
    spec.shares = {"never-started"};
    const auto started = start("third", "true", spec);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("never-started"));
}

TEST_F(StepSafety, HiddenFoldersLookEmpty) {
    if (!has_namespaces()) GTEST_SKIP() << executor->protection().text;
    std::filesystem::create_directory(folder.path("keys"));
    std::ofstream(folder.path("keys/zone.pem")) << "secret";
    open({.hidden_paths = {folder.path("keys")}});
    EXPECT_EQ(output("hidden", "ls -A " + folder.path("keys") + "; echo x > " + folder.path("keys/new")), "");
    EXPECT_FALSE(std::filesystem::exists(folder.path("keys/new")));
}

TEST_F(StepSafety, AJobSeesNoProcessButItsOwn) {
    open({.shared_memory = false});
    if (!has_namespaces()) GTEST_SKIP() << executor->protection().text;
    const std::string seen = output("processes", "cat /proc/[0-9]*/comm; kill -0 " + std::to_string(getpid()));
    EXPECT_EQ(lines(seen).size(), 2U) << seen << "(its first process, the shell)";
    EXPECT_NE(wait("processes").exit_code, 0) << "a signal reached this test";
}

class StepDaemon : public StepSafety, public testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(, StepDaemon, testing::Bool(),
                         [](const auto& param_info) { return param_info.param ? "SharedMemory" : "OwnProcesses"; });

TEST_P(StepDaemon, WithoutItsMarkDoesNotGetAway) {
    open({.shared_memory = GetParam()});
    const std::string word = "zbs-daemon-" + std::to_string(getpid());
    ASSERT_TRUE(start("daemon", "(env -i setsid sh -c 'trap \"\" TERM HUP; echo > up; while :; do sleep 0.05; done' " +
                                    word + " &) ; while [ ! -e up ]; do sleep 0.02; done; exit 6"));
    EXPECT_EQ(wait("daemon").exit_code, 6);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const auto words = read_file(entry.path().string() + "/cmdline");
        EXPECT_FALSE(words && words->find(word + '\0') != std::string::npos && words->starts_with("sh"))
            << entry.path() << " is alive";
    }
}

TEST_F(StepSafety, WithoutRootOnlyTheOwnAccountIsPossible) {
    if (geteuid() == 0) GTEST_SKIP() << "root can be everybody";
    StepSpec spec;
    spec.account = "root";
    const auto started = start("other", "true", spec);
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::kRejected);
    EXPECT_THAT(started.error().message, HasSubstr("not as root"));
}

TEST_F(StepSafety, StepsThatShareMemorySeeEachOther) {
    open({.shared_memory = true});
    ASSERT_TRUE(start("one", "echo $$; sleep 60"));
    ASSERT_TRUE(wait_for_text("one", ".zbs-stdout", "\n"));
    const std::string number = text("one", ".zbs-stdout");
    EXPECT_EQ(output("two", "tr '\\0' ' ' < /proc/" + number.substr(0, number.size() - 1) + "/cmdline | cut -c1-7"),
              "/bin/sh\n");
    EXPECT_EQ(executor->protection().isolation, Isolation::kNone) << "without accounts";
}

class StepAccount : public StepSafety {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "needs root: jobs as another account";
        open({.hidden_paths = {folder.path()}, .default_account = "nobody", .minimum_uid = 2});
    }
};

TEST_F(StepAccount, AJobIsItsAccountForGood) {
    StepSpec spec;
    spec.account = "games";
    EXPECT_EQ(output("ids", "id -un; id -gn; id -Gn", spec), "games\ngames\ngames\n");
    EXPECT_EQ(output("none", "id -un"), "nobody\n");
    EXPECT_THAT(output("status", "cat /proc/self/status; setpriv --reuid=0 true && echo is root", spec),
                AllOf(HasSubstr("Uid:\t5\t5\t5\t5\n"), HasSubstr("NoNewPrivs:\t1\n"), Not(HasSubstr("is root"))));
}

TEST_F(StepAccount, TheFolderIsTheAccountsAndItsControlIsNot) {
    StepSpec spec;
    spec.account = "games";
    spec.files = {{"in", "given"}};
    EXPECT_EQ(output("owner", "stat -c '%U %a' . in .zbs-stdout; cat in; echo x > made; : > ../exit", spec),
              "games 700\ngames 600\ngames 600\ngiven");
    EXPECT_EQ(text("owner", "made"), "x\n");
    EXPECT_EQ(std::filesystem::status(folder.path("steps/owner")).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(StepAccount, InputsAreTheAccountsAndWhatTheyAreCopiedFromStaysHidden) {
    const std::string kept = folder.path("kept");
    std::ofstream(kept) << "given";
    std::filesystem::permissions(kept, std::filesystem::perms::owner_read);
    StepSpec spec;
    spec.account = "games";
    spec.inputs = {{"in", kept, false}};
    EXPECT_EQ(output("inputs", "stat -c '%U %G %a' in; cat in; cat " + kept + " 2>/dev/null || echo hidden", spec),
              "games games 600\ngivenhidden\n");
    spec.inputs = {};
    spec.shares = {"inputs"};
    EXPECT_EQ(output("sharing", "cd " + executor->folder("inputs") + " && cat in && echo x > made", spec), "given");
    EXPECT_EQ(text("inputs", "made"), "x\n");
}

TEST_F(StepAccount, AJobHasItsFolderWhereItsAccountCannotCome) {
    open({.minimum_uid = 2});
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    StepSpec spec;
    spec.account = "games";
    EXPECT_EQ(output("inside", "pwd; echo x > made; cat made; ls " + folder.path(), spec),
              executor->folder("inside") + "\nx\n");
}

TEST_F(StepAccount, RefusedAccountsStartNothing) {
    for (const char* account : {"root", "zbs-no-such-account", "daemon"}) {
        StepSpec spec;
        spec.account = AccountName(account);
        const auto started = start("refused", "true", spec);
        ASSERT_FALSE(started) << account;
        EXPECT_EQ(started.error().code, ErrorCode::kRejected);
        EXPECT_THAT(started.error().message, HasSubstr(account));
        EXPECT_EQ(executor->status("refused").state, StepStatus::State::kUnknown);
    }
}

TEST_F(StepAccount, TheDirectoryIsEnteredWithTheAccountsRights) {
    open({.minimum_uid = 2});
    std::filesystem::create_directory(folder.path("private"));
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    std::filesystem::permissions(folder.path("private"), std::filesystem::perms::owner_all);
    StepSpec spec;
    spec.account = "games";
    spec.directory = folder.path("private");
    const auto started = start("private", "pwd", spec);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, AllOf(HasSubstr(spec.directory), HasSubstr("Permission denied")));
}

TEST_F(StepAccount, AnothersFolderCannotBeShared) {
    StepSpec spec;
    spec.account = "games";
    ASSERT_TRUE(start("theirs", "sleep 60", spec));
    spec.account = "nobody";
    spec.shares = {"theirs"};
    const auto started = start("mine", "true", spec);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("belongs to another user"));
}

TEST_F(StepAccount, RootJobsCanBeRefused) {
    open({.allow_root_jobs = false});
    const auto started = start("root", "true");
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::kRejected);
    EXPECT_THAT(started.error().message, HasSubstr("would run as root"));
    EXPECT_EQ(executor->protection().isolation, Isolation::kAccounts);
}

TEST_F(StepAccount, RootJobsAreNoIsolation) {
    StepExecutorOptions options{.folder = folder.path("steps"), .supervisor = ZBS_STEP, .require_isolation = true};
    const auto refused = make_step_executor(options);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("run as root"));
    options.default_account = "nobody";
    EXPECT_TRUE(make_step_executor(options));
    options.default_account = "root";
    EXPECT_FALSE(make_step_executor(options));
}

}  // namespace
}  // namespace zbs::process
