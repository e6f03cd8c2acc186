#include "services/common/adapters/process/start/step_starter.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <regex>
#include <utility>

#include "services/common/adapters/process/start/descriptor_message.hpp"
#include "services/common/adapters/process/start/starter_message.hpp"
#include "tests/unit/process/step_fixture.hpp"

namespace zbs::process {
namespace {

using testing::HasSubstr;

/// `zbs-step serve` on a socket in a folder of its own, with a script in place of systemd-run, which keeps what it is
/// asked for and makes processes that are nobody's children, ignore SIGPIPE and have variables, as those of systemd.
class StepStarterTest : public StepExecutorTest {
  protected:
    StepStarterTest() {
        manage("while [ \"$1\" != -- ]; do shift; done; shift; trap '' PIPE; OF_MANAGER=yes setsid -f \"$@\" >> " +
               folder.path("journal") + " 2>&1");
    }
    void SetUp() override {
        begin();
        open({.starter = socket_});
    }
    ~StepStarterTest() override { end(SIGTERM); }

    void begin() {
        int said[2];
        ASSERT_EQ(pipe2(said, O_CLOEXEC), 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, said[1], 1);
        std::vector<std::string> words = {ZBS_STEP, "serve", "--socket", socket_, "--units", script_};
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        pid_t pid = 0;
        ASSERT_EQ(posix_spawn(&pid, ZBS_STEP, &actions, nullptr, argv.data(), environ), 0);
        posix_spawn_file_actions_destroy(&actions);
        close(said[1]);
        char first = 0;
        EXPECT_EQ(read(said[0], &first, 1), 1) << "the starter does not serve";
        close(said[0]);
        if (const auto found = find_process(pid)) starter_ = *found;
    }
    void manage(const std::string& how) {
        std::ofstream(script_) << "#!/bin/sh\necho \"$@\" >> " << folder.path("asked") << "\n" << how << "\n";
        chmod(script_.c_str(), 0700);
    }
    std::string asked() const { return read_file(folder.path("asked")).value_or(""); }
    void end(int signal) {
        send_signal(starter_, signal);
        EXPECT_TRUE(eventually([&] { return !is_alive(starter_); }));
    }
    int connection(const std::string& suffix = {}) {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        const std::string path = socket_ + suffix;
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << std::strerror(errno);
        return fd;
    }
    /// What is said to `text` with these descriptors, each of which is closed.
    std::string reply_to(std::string text, const std::vector<int>& given = {}, const std::string& suffix = {}) {
        const int fd = connection(suffix);
        iovec part{.iov_base = text.data(), .iov_len = text.size()};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(32 * sizeof(int))> room{};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (!given.empty()) {
            message.msg_control = room.data();
            message.msg_controllen = CMSG_SPACE(given.size() * sizeof(int));
            cmsghdr* const header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(given.size() * sizeof(int));
            std::memcpy(CMSG_DATA(header), given.data(), given.size() * sizeof(int));
        }
        const bool is_sent = sendmsg(fd, &message, MSG_NOSIGNAL) >= 0;
        EXPECT_TRUE(is_sent || errno == EPIPE) << std::strerror(errno);  // who is refused may hear of it here
        std::array<char, 2'048> said{};
        const ssize_t got = recv(fd, said.data(), said.size(), 0);
        close(fd);
        for (const int one : given) close(one);
        return got > 0 ? std::string(said.data(), static_cast<std::size_t>(got)) : "nothing";
    }
    int log() const { return ::open(folder.path("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); }
    int pipe_end(int which) const {
        int ends[2];
        EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
        close(ends[1 - which]);
        return ends[which];
    }
    static int memory(const std::string& text) { return make_memory_file("test", text); }
    std::size_t open_descriptors() const {
        std::size_t count = 0;
        for (int fd = 0; fd < 256; ++fd) {
            struct stat info {};
            count += lstat(("/proc/" + std::to_string(starter_.pid) + "/fd/" + std::to_string(fd)).c_str(), &info) == 0;
        }
        return count;
    }

    std::string socket_ = folder.path("starter");
    ProcessRef starter_;

  private:
    std::string script_ = folder.path("systemd-run");
};

TEST_F(StepStarterTest, WhatCannotStartSaysWhy) {
    StepSpec spec{.step_id = "none", .argv = {"/nonexistent/program"}};
    const auto started = executor->start(spec);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("/nonexistent/program"));
}

TEST_F(StepStarterTest, StepsOutliveItAndBeginAgainOnceItIsBack) {
    ASSERT_TRUE(start("lasting", "echo here; sleep 60"));
    end(SIGKILL);
    EXPECT_EQ(executor->status("lasting").state, State::kRunning);
    const auto refused = start("next", "echo next");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(refused.error().message, HasSubstr(socket_));
    EXPECT_THAT(refused.error().message, HasSubstr("systemctl status zbs-steps"));
    const auto made = make_step_executor({.folder = folder.path("other"), .supervisor = ZBS_STEP, .starter = socket_});
    ASSERT_FALSE(made) << "what jobs are kept from cannot be known";
    EXPECT_THAT(made.error().message, HasSubstr(socket_));
    begin();  // over the socket that the other one left
    EXPECT_EQ(output("next", "echo next"), "next\n");
    executor->stop("lasting", Duration{0});
    EXPECT_EQ(wait("lasting").reason, "stopped");
}

TEST_F(StepStarterTest, WhatIsNoRequestIsRefusedWithAReasonAndTheNextIsServed) {
    const std::string good(kStarterRequest);
    const std::string words = encode_arguments({"--operation", "x"});
    std::size_t before = 0;
    int same = 0;  // the connection of the fixture may not be closed yet
    ASSERT_TRUE(eventually([&] {
        const std::size_t now = open_descriptors();
        same = now == std::exchange(before, now) ? same + 1 : 0;
        return same == 20;
    }));
    EXPECT_THAT(reply_to("junk"), HasSubstr("refused this is no request"));
    EXPECT_THAT(reply_to(std::string(100'000, 'x')), HasSubstr("refused this is no request"));
    EXPECT_THAT(reply_to(good), HasSubstr("4 descriptors, not 0"));
    EXPECT_THAT(reply_to(good, {memory(words), log()}), HasSubstr("4 descriptors, not 2"));
    EXPECT_THAT(reply_to(good, {memory(words), log(), pipe_end(1), memory(""), log()}), HasSubstr("not 5"));
    std::vector<int> many;
    for (int i = 0; i < 32; ++i) many.push_back(log());
    EXPECT_THAT(reply_to(good, many), HasSubstr("refused"));
    EXPECT_THAT(reply_to(good, {log(), log(), pipe_end(1), memory("")}), HasSubstr("arguments are in no memory file"));
    EXPECT_THAT(reply_to(good, {memory(words), pipe_end(1), pipe_end(1), memory("")}), HasSubstr("log is no file"));
    EXPECT_THAT(reply_to(good, {memory(words), log(), pipe_end(0), memory("")}), HasSubstr("into no pipe"));
    EXPECT_THAT(reply_to(good, {memory(words), log(), log(), memory("")}), HasSubstr("into no pipe"));
    EXPECT_THAT(reply_to(good, {memory(words), log(), pipe_end(1), log()}), HasSubstr("input is in no memory file"));
    EXPECT_THAT(reply_to(good, {memory("cut"), log(), pipe_end(1), memory("")}), HasSubstr("cut"));
    const std::string serve = encode_arguments({"serve", "--socket", "/x"});
    EXPECT_THAT(reply_to(good, {memory(serve), log(), pipe_end(1), memory("")}), HasSubstr("must be an option"));
    const std::string too_long = "--" + std::string(kMaxSupervisorArgumentBytes, 'a');
    EXPECT_THAT(reply_to(good, {memory(too_long), log(), pipe_end(1), memory("")}), HasSubstr("at most"));
    EXPECT_TRUE(eventually([&] { return open_descriptors() == before; })) << "descriptors of refused requests stay";
    EXPECT_EQ(output("after", "echo served"), "served\n");
}

TEST_F(StepStarterTest, WhoSaysNothingHindersNobodyAndIsLetGo) {
    std::vector<int> silent;
    for (int i = 0; i < 15; ++i) silent.push_back(connection());
    EXPECT_EQ(output("beside", "echo served"), "served\n");
    for (const int fd : silent) {
        char byte = 0;
        EXPECT_EQ(recv(fd, &byte, 1, 0), 0) << "it waits for who says nothing";
        close(fd);
    }
}

TEST_F(StepStarterTest, OnlyItsUserMayReachIt) {
    struct stat info {};
    ASSERT_EQ(stat(socket_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
    if (geteuid() != 0) GTEST_SKIP() << "needs root to be another user";
    chmod(socket_.c_str(), 0666);
    chmod(folder.path(".").c_str(), 0755);
    int said[2];
    ASSERT_EQ(pipe2(said, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool is_other = setgid(65'534) == 0 && setuid(65'534) == 0;
        const auto found = find_starter(socket_);  // its own check: nothing is handed to another user
        const std::string text =
            (is_other ? "other, " : "same, ") + reply_to("junk") + ", " + (found ? "found" : found.error().message);
        _exit(write(said[1], text.data(), text.size()) > 0 ? 0 : 1);
    }
    close(said[1]);
    std::array<char, 512> text{};
    EXPECT_GT(read(said[0], text.data(), text.size() - 1), 0);
    close(said[0]);
    EXPECT_THAT(text.data(), testing::StartsWith("other, nothing, "));
    EXPECT_THAT(text.data(), HasSubstr("runs as root"));
    EXPECT_EQ(output("after", "echo served"), "served\n");
}

TEST_F(StepStarterTest, EndsInOrderAndLeavesNoSocket) {
    ASSERT_TRUE(start("lasting", "sleep 60"));
    end(SIGTERM);
    EXPECT_NE(access(socket_.c_str(), F_OK), 0);
    EXPECT_EQ(executor->status("lasting").state, State::kRunning);
}

TEST_F(StepStarterTest, EachStepIsAUnitAndRunsAsAnyOther) {
    EXPECT_THAT(asked(), HasSubstr("--unit=zbs-step-probe-")) << "what jobs may is tried where they run";
    EXPECT_EQ(output("hello", "echo out; echo $PWD | sed 's,.*/,,'; cat given; echo ${OF_MANAGER-no}",
                     {.files = {{"given", "text "}}}),
              "out\njob\ntext no\n");
    EXPECT_THAT(asked(), testing::ContainsRegex("--quiet --collect --no-ask-password --service-type=exec "
                                                "--unit=zbs-step-hello-[0-9a-f]+\\.service --description=ZBS "
                                                "zbs-step-hello -- /"));
    ASSERT_TRUE(start("lasting", "echo here; sleep 60"));
    ASSERT_TRUE(wait_for_text("lasting", ".zbs-stdout", "here"));
    const std::string supervisor = "/proc/" + std::to_string(supervisor_of("lasting")->pid);
    const auto stat = read_file(supervisor + "/stat");
    EXPECT_THAT(stat.value_or(""), Not(testing::ContainsRegex("\\) [A-Z] " + std::to_string(starter_.pid) + " ")));
    EXPECT_EQ(read_file(supervisor + "/environ").value_or("none"), "");
    executor->stop("lasting", Duration{0});
    EXPECT_EQ(wait("lasting").reason, "stopped");
    EXPECT_EQ(alive("lasting"), 0U);
    EXPECT_EQ(read_file(folder.path("journal")).value_or(""), "");
}

TEST_F(StepStarterTest, ASupervisorHasTheSignalsAndDescriptorsOfOneThatIsAChild) {
    const auto look = [&](const StepId& step_id) {
        EXPECT_TRUE(start(step_id, "echo here; ls -l /proc/self/fd | wc -l; sleep 60"));
        EXPECT_TRUE(wait_for_text(step_id, ".zbs-stdout", "here\n"));
        const std::string status =
            read_file("/proc/" + std::to_string(supervisor_of(step_id)->pid) + "/status").value_or("");
        const std::size_t at = status.find("SigIgn:");
        const std::string found = status.substr(at, status.find('\n', at) - at) + " ";
        // Signals 32 and 33 are glibc's own, and ignored where it has made the process.
        return std::regex_replace(found, std::regex("(SigIgn:\t.{7})1?.8?"), "$1") +
               output(StepId(step_id + "-files"), "ls -l /proc/self/fd | wc -l");
    };
    const std::string unit = look("unit");
    open();  // without a starter
    EXPECT_EQ(unit, look("child"));
}

TEST_F(StepStarterTest, WhatTheManagerSaysIsTold) {
    manage("echo 'Failed to start: no\nmore units' >&2; exit 1");
    const auto refused = start("none", "echo no");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(refused.error().message,
                testing::ContainsRegex("begins no zbs-step-none-[0-9a-f]+\\.service: Failed to start: no more units"));
    manage("exit 3");
    const auto silent = start("none", "echo no");
    ASSERT_FALSE(silent);
    EXPECT_THAT(silent.error().message,
                testing::ContainsRegex("does not say why; see 'journalctl -u zbs-step-none-[0-9a-f]+\\.service'"));
    EXPECT_EQ(executor->status("none").state, State::kUnknown);
}

TEST(StepStarter, WhatCannotWorkIsToldBeforeItServes) {
    const auto said = [](const std::string& words) {
        std::array<char, 1'000> text{};
        FILE* const pipe = popen(("'" + std::string(ZBS_STEP) + "' " + words + " 2>&1; echo $?").c_str(), "r");
        const std::size_t got = fread(text.data(), 1, text.size(), pipe);
        pclose(pipe);
        return std::string(text.data(), got);
    };
    const test::TemporaryFolder folder;
    const std::string serve = "serve --socket " + folder.path("s");
    EXPECT_EQ(said(serve + " --units /nonexistent/systemd-run"),
              "zbs-step: cannot run /nonexistent/systemd-run: No such file or directory; --units takes the path of "
              "systemd-run (Debian: in the package systemd)\n1\n");
    EXPECT_NE(access(folder.path("s").c_str(), F_OK), 0);
    EXPECT_THAT(said(serve + " --units systemd-run"), testing::EndsWith("see zbs-step(8).\n2\n"));
    EXPECT_THAT(said(""), testing::EndsWith("\n2\n"));
    EXPECT_EQ(said("--version"), "zbs-step 0.1.0\n0\n");
    EXPECT_THAT(said("--help"), testing::EndsWith("\n0\n"));
}

TEST_F(StepStarterTest, AUnitThatDoesNotComeIsGivenUp) {
    const std::size_t before = open_descriptors();
    manage("exit 0");
    const auto refused = start("none", "echo no");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                testing::ContainsRegex("does not begin within 5 s; see 'journalctl -u zbs-step-none-"));
    EXPECT_TRUE(eventually([&] { return open_descriptors() == before; })) << "it keeps what was given";
}

TEST_F(StepStarterTest, WhoWasNotAskedForGetsNothing) {
    const std::size_t before = open_descriptors();
    const std::string attendance(kAttendance);
    for (const std::string& text : {std::string("junk"), attendance, attendance + std::string(32, 'a'),
                                    attendance + std::string(4'000, 'a'), std::string(kStarterRequest)})
        EXPECT_EQ(reply_to(text, {}, std::string(kStepSocketSuffix)), "nothing") << text;
    EXPECT_EQ(reply_to(attendance + std::string(32, 'a'), {log(), log()}, std::string(kStepSocketSuffix)), "nothing");
    EXPECT_TRUE(eventually([&] { return open_descriptors() == before; }));
    EXPECT_EQ(output("after", "echo served"), "served\n");
}

TEST_F(StepStarterTest, StepsOutliveItAndBothSocketsGo) {
    ASSERT_TRUE(start("lasting", "echo here; sleep 60"));
    end(SIGKILL);
    EXPECT_EQ(executor->status("lasting").state, State::kRunning);
    begin();  // over the sockets that the other one left
    EXPECT_EQ(output("next", "echo next"), "next\n");
    end(SIGTERM);
    for (const std::string& suffix : {std::string(), std::string(kStepSocketSuffix)})
        EXPECT_NE(access((socket_ + suffix).c_str(), F_OK), 0) << suffix;
    EXPECT_EQ(executor->status("lasting").state, State::kRunning);
    executor->stop("lasting", Duration{0});
    EXPECT_EQ(wait("lasting").reason, "stopped");
}

}  // namespace
}  // namespace zbs::process
