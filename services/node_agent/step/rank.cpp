#include "services/node_agent/step/rank.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/common/messages/steps/rank_end.hpp"
#include "services/node_agent/step/execute.hpp"
#include "services/node_agent/step/program.hpp"
#include "services/node_agent/step/tree_end.hpp"

namespace zbs::step {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr const char* kPmi = "PMI_FD";
constexpr std::chrono::seconds kRead{5};             ///< that a proxy may take to read what the rank wrote
constexpr std::chrono::milliseconds kOnItsWay{200};  ///< what other ranks wrote before, to the launcher
constexpr std::chrono::seconds kAnswer{1};           ///< that a proxy may take to answer
constexpr std::chrono::milliseconds kBetweenChecks{1};
constexpr std::string_view kBarrier = "cmd=barrier_in\n";
constexpr std::chrono::seconds kLeftoverStays{3};                         ///< as behind the ranks of MPICH's proxy
constexpr std::chrono::milliseconds kFirstCheck{10}, kLastCheck{10'000};  ///< whether the program is alone
constexpr int kMaxProcesses = 64;                                         ///< of a rank that are looked at
constexpr std::string_view kLeft = "zbs-left", kBegun = "zbs-begun";      ///< keys that supervisors set

std::optional<int> number_in(const char* variable) {
    const char* text = std::getenv(variable);
    int number = 0;
    if (text == nullptr) return std::nullopt;
    const char* end = text + std::strlen(text);
    const auto [last, fault] = std::from_chars(text, end, number);
    return fault == std::errc{} && last == end && number >= 0 ? std::optional(number) : std::nullopt;
}

/// One rank under way.
class Rank {
  public:
    /// `pmi`: ours, and the end that the rank gets; none where the launcher speaks no PMI over a descriptor.
    /// `fault`: brings why the child cannot execute its program. `signals`: those of this process.
    Rank(pid_t child, std::optional<int> pmi, int pair, int fault, int signals)
        : child_(child), pmi_(pmi), pair_(pair), fault_(fault), signals_(signals) {}

    /// Until the rank has ended; its wait status.
    int run() {
        for (;;) {
            std::array<pollfd, 3> waiting = {
                {{signals_, POLLIN, 0}, {pair_, POLLIN, 0}, {pmi_.value_or(-1), POLLIN, 0}}};
            const int ready = poll(waiting.data(), waiting.size(), look_ ? static_cast<int>(look_->count()) : -1);
            if (ready < 0 && errno != EINTR) return 0;
            if (ready == 0) find_mpi();
            if (ready <= 0) continue;
            read_signals();  // first: a rank that finalizes in a stop has not done so before
            if (waiting[1].revents != 0) from_rank();
            if (waiting[2].revents != 0) to_rank();
            int status = 0;
            pid_t ended = 0;
            while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
                if (ended == child_) end_ = status;
            // In a stop the processes that the rank left have their time, too, and what they print is wanted.
            if (end_ && (!is_stopped_ || (ended < 0 && errno == ECHILD))) return *end_;
        }
    }
    /// The step is being stopped: the launcher must not end the other ranks because of this one.
    bool is_stopped() const { return is_stopped_; }

    void ended(int status) {
        is_marked_ = has_mark();
        while (pair_ >= 0 && from_rank()) {
        }
        if (is_finalized_ && !is_unprofiled_ && number_in("PMI_RANK") == 0 && !is_seen())
            std::fputs(
                "zbs: the calls of this program do not reach the preloaded library, as if MPI were linked statically: "
                "it is not profiled, and its MPI_Finalize may not return over TCP\n",
                stderr);
        const bool by_signal = WIFSIGNALED(status);
        const int code = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
        const bool is_by_launcher = by_signal && code == SIGTERM && is_ended_by_launcher_;
        const std::optional<RankEnd> abort = (!by_signal || is_by_launcher) && is_early() ? own_abort() : std::nullopt;
        const std::string fault = read_fault();
        RankEnd end = abort.value_or(RankEnd{.how = by_signal ? RankEndKind::kSignalled : RankEndKind::kExited,
                                             .code = code,
                                             .before_finalize = is_early(),
                                             .at = now()});
        // A program without MPI_Finalize has not proved that its work was done when the signal came.
        const bool is_cut = is_stopped_ && !has_begun_ && number_in("PMI_RANK");
        if (by_signal || code != 0 || is_early() || is_cut) {
            if (!is_by_launcher || abort) record(end, fault);
            wait_until_read();
        }
        if (abort && is_stopped_) {
            pass_on("cmd=abort exitcode=" + std::to_string(exit_code_of(end)) + "\n");
            return;
        }
        // The launcher ends all ranks if one ends by a signal.
        if (!has_begun_ && !by_signal && !is_stopped_ && fault.empty() && others_have_begun()) {
            end.before_init = true;
            record(end, fault);
            wait_until_read();
            pass_on("cmd=abort exitcode=" + std::to_string(exit_code_of(end)) + "\n");
        } else if (is_stopped_ || !is_early()) {
            finalize();
        } else {
            std::this_thread::sleep_for(kOnItsWay);
        }
        if (number_in("OMPI_COMM_WORLD_RANK") && !by_signal && code == 0 && !is_early()) await_leftovers();
    }

  private:
    /// Open MPI's daemon reads no output here, and ends with its last rank. Processes that the rank left end then.
    void await_leftovers() {
        const auto until = SteadyClock::now() + kLeftoverStays;
        while (!is_stopped_) {
            pid_t ended = 0;
            while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now()).count();
            if (ended < 0 || left <= 0) return;
            pollfd waiting{signals_, POLLIN, 0};
            if (poll(&waiting, 1, static_cast<int>(left)) > 0) read_signals();
        }
    }

    /// A job's own processes are in the session of this one. Ids of other namespaces are 0.
    static bool is_from_outside(const signalfd_siginfo& signal) {
        if (signal.ssi_pid == 0) return true;
        const pid_t session = getsid(static_cast<pid_t>(signal.ssi_pid));
        return session >= 0 && session != getsid(0);
    }

    void read_signals() {
        signalfd_siginfo signal{};
        while (read(signals_, &signal, sizeof signal) > 0) {
            if (signal.ssi_signo != SIGTERM || is_stopped_) continue;
            if (!is_from_outside(signal)) {
                is_ended_by_launcher_ = true;
            } else {
                is_stopped_ = true;
                if (number_in("OMPI_COMM_WORLD_RANK") ? has_mark() : !is_finalized_)
                    write_once(own_files::kAtWork, std::to_string(number_in(rank_variable()).value_or(0)));
            }
        }
    }

    /// The answer of the launcher to a request. Empty if the step is stopped before, or the launcher is gone.
    std::string ask(std::string_view request) {
        if (is_stopped_) return {};
        pass_on(request);
        std::string answer;
        while (pmi_ && !answer.ends_with('\n')) {
            std::array<pollfd, 2> waiting = {{{signals_, POLLIN, 0}, {*pmi_, POLLIN, 0}}};
            if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) return {};
            if (waiting[0].revents != 0) read_signals();
            if (is_stopped_) return {};
            if (waiting[1].revents == 0) continue;
            char chunk[256];
            const ssize_t got = read(*pmi_, chunk, sizeof chunk);
            if (got <= 0)
                close_pmi();
            else
                answer.append(chunk, static_cast<std::size_t>(got));
        }
        return answer;
    }
    std::string request_for(std::string_view command, std::string_view key) {
        constexpr std::string_view kName = "kvsname=";
        std::string store = ask("cmd=get_my_kvsname\n");
        store.erase(0, std::min(store.find(kName), store.size()));
        store.resize(std::min(store.find_first_of(" \n"), store.size()));
        return "cmd=" + std::string(command) + " " + store + " key=" + std::string(key);
    }
    bool is_set(std::string_view key) {
        return ask(request_for("get", key) + "\n").find(" rc=0 ") != std::string::npos;
    }
    void set(std::string_view key) { ask(request_for("put", key) + " value=1\n"); }

    /// In place of a rank that has left without MPI_Init: once each other rank has left so or waits in MPI_Init,
    /// whether one waits. Two barriers: behind the first the ranks that wait learn that one has left, behind the second
    /// those that have left learn that one waits.
    bool others_have_begun() {
        if (!pmi_ || number_in("PMI_SIZE").value_or(1) < 2) return false;
        has_joined_ = true;
        ask("cmd=init pmi_version=1 pmi_subversion=1\n");
        set(kLeft);
        ask(kBarrier);
        ask(kBarrier);
        return is_set(kBegun);
    }
    /// In place of a rank that waits in MPI_Init, behind the first barrier. If a rank has left, MPI_Init would only
    /// report a key that is missing; the supervisor of that rank aborts the job with the right code.
    bool others_have_left() {
        if (!is_set(kLeft)) return false;
        set(kBegun);
        pass_on(kBarrier);
        return true;
    }

    /// In place of a rank that has ended before MPI_Finalize, or of one that has left without MPI_Init.
    void finalize() {
        if (!(is_early() || has_joined_) || !pmi_ || is_second_version_) return;
        pass_on("cmd=finalize\n");
        const auto end = SteadyClock::now() + kAnswer;
        std::string answer;
        while (pmi_ && answer.find("finalize_ack") == std::string::npos && SteadyClock::now() < end) {
            pollfd waiting{*pmi_, POLLIN, 0};
            char chunk[256];
            if (poll(&waiting, 1, static_cast<int>(kBetweenChecks.count())) <= 0) continue;
            const ssize_t got = read(*pmi_, chunk, sizeof chunk);
            if (got <= 0) return;
            answer.append(chunk, static_cast<std::size_t>(got));
        }
    }

    /// Of a rank that has passed MPI_Finalize: whether the preloaded library, if there is one, saw it.
    static bool is_seen() {
        const char* const model = std::getenv("ZBS_PROFILE_OUT");
        if (model == nullptr || std::getenv(kRankPreloadVariable) == nullptr) return true;
        return access((std::string(model) + ".finalized").c_str(), F_OK) == 0;
    }
    /// Of a rank of Open MPI, which speaks with its daemon over no descriptor of ours: the preloaded library knows.
    static bool has_mark() {
        const char* const folder = std::getenv(kRankEndsVariable);
        const std::optional<int> rank = number_in("OMPI_COMM_WORLD_RANK");
        if (folder == nullptr || !rank) return false;
        return access((std::string(folder) + "/" + std::string(own_files::kEarly) + std::to_string(*rank)).c_str(),
                      F_OK) == 0;
    }
    /// MPI_Abort of the program, as the preloaded library saw it: earlier than ranks that abort because of it.
    static std::optional<RankEnd> own_abort() {
        constexpr std::size_t kMax = 16;
        const char* const folder = std::getenv(kRankEndsVariable);
        const std::optional<int> rank = number_in(rank_variable());
        if (folder == nullptr || !rank) return std::nullopt;
        const std::string mark = std::string(folder) + "/" + std::string(own_files::kAbort) + std::to_string(*rank);
        const std::string text = process::read_file(mark, kMax).value_or("");
        RankEnd end{.how = RankEndKind::kAborted, .before_finalize = true};
        struct stat file {};
        const auto [last, fault] = std::from_chars(text.data(), text.data() + text.size(), end.code);
        if (fault != std::errc{} || last != text.data() + text.size() || stat(mark.c_str(), &file) != 0)
            return std::nullopt;
        end.at = Time{std::chrono::duration_cast<Duration>(std::chrono::seconds{file.st_mtim.tv_sec} +
                                                           std::chrono::nanoseconds{file.st_mtim.tv_nsec})};
        return end;
    }
    bool is_early() const { return is_marked_ || (has_begun_ && !is_finalized_); }

    /// Reports, once for all ranks of this proxy, that process `pid`, which waits in MPI_Init, has not loaded the
    /// zone's library: the ranks that have it may wait for this one for ever.
    void check_library(pid_t pid) {
        constexpr std::size_t kMax = std::size_t{4} << 20;
        constexpr std::string_view kPreload("\0LD_PRELOAD=", 12);
        const char* const library = std::getenv(kRankPreloadVariable);
        if (library == nullptr || pid <= 0) return;
        const std::string entry = "/proc/" + std::to_string(pid);
        const std::string name = std::strrchr(library, '/') ? std::strrchr(library, '/') : library;
        const std::optional<std::string> maps = process::read_file(entry + "/maps", kMax);
        // A program with other rights than its user may not be inspected; one that has ended is empty.
        if (maps ? maps->empty() || maps->find(name) != std::string::npos : errno != EACCES) return;
        is_unprofiled_ = true;
        const std::string environment = '\0' + process::read_file(entry + "/environ", kMax).value_or("");
        const std::size_t preload = environment.find(kPreload);
        const bool is_removed =
            maps && (preload == std::string::npos ||
                     std::string_view(environment.c_str() + preload + 1).find(name) == std::string_view::npos);
        report(is_removed ? RankFinding::kPreloadRemoved : RankFinding::kNotPreloadable,
               "its messages are not counted and MPI_Finalize may hang over TCP");
    }

    /// Before the rank has begun MPI, less and less often: whether a process of it has loaded MPI and lacks the
    /// launcher's variables, as `env -i` leaves it. It becomes rank 0 of 1, and so does each rank of the job.
    void find_mpi() {
        look_ = *look_ * 2;
        if (has_begun_ || *look_ > kLastCheck) return look_.reset();
        constexpr std::size_t kMax = std::size_t{4} << 20;
        const std::string variable = std::string(1, '\0') + rank_variable() + "=";
        std::vector<pid_t> processes = {child_};
        for (std::size_t i = 0; i < processes.size(); ++i) {
            const std::string entry = "/proc/" + std::to_string(processes[i]), number = std::to_string(processes[i]);
            const std::string maps = process::read_file(entry + "/maps", kMax).value_or("");
            if (maps.find("/libmpi.so") != std::string::npos || maps.find("/libmpich") != std::string::npos) {
                const std::optional<std::string> environment = process::read_file(entry + "/environ", kMax);
                if (!environment || ('\0' + *environment).find(variable) != std::string::npos) continue;
                look_.reset();
                return report(RankFinding::kAlone, "each rank is then rank 0 of 1: keep the environment (no env -i)");
            }
            std::string children = process::read_file(entry + "/task/" + number + "/children").value_or("");
            for (const char* next = children.c_str(); *next != '\0' && processes.size() < kMaxProcesses;) {
                char* end = nullptr;
                const long pid = std::strtol(next, &end, 10);
                if (end == next) break;
                processes.push_back(static_cast<pid_t>(pid));
                next = end + std::strspn(end, " ");
            }
        }
    }
    static const char* rank_variable() { return number_in("PMI_RANK") ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK"; }

    /// A file in the folder of ends, of the first rank of this proxy that writes it; false for the others.
    static bool write_once(std::string_view name, std::string_view text) {
        const char* const folder = std::getenv(kRankEndsVariable);
        if (folder == nullptr) return false;
        const int file = open((std::string(folder) + "/" + std::string(name)).c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file < 0) return false;
        write_all(file, text);
        close(file);
        return true;
    }

    /// One line for all ranks of this proxy, and a note for the reason of the job's end.
    static void report(RankFinding finding, const char* effect) {
        const char* const machine = std::getenv(kRankMachineVariable);
        const int rank = number_in(rank_variable()).value_or(0);
        if (!write_once(own_files::kUnusual, finding_text(rank, finding))) return;
        std::fprintf(stderr, "zbs: %s; %s\n", describe(rank, finding, machine ? machine : "").c_str(), effect);
    }

    /// As recv, without waiting; `sender` = the process that sent it, 0 if unknown.
    ssize_t receive(char* to, std::size_t size, pid_t& sender) const {
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
        iovec place{to, size};
        msghdr message{};
        message.msg_iov = &place;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const ssize_t got = recvmsg(pair_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
        if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS) return got;
        ucred credentials{};
        std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
        sender = credentials.pid;
        return got;
    }

    /// Passes on a request of the rank; false when no more requests come.
    bool from_rank() {
        char chunk[4096];
        pid_t sender = 0;
        const ssize_t got = receive(chunk, sizeof chunk, sender);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
        if (got <= 0) {
            close(pair_);
            pair_ = -1;
            return false;
        }
        const std::string_view text(chunk, static_cast<std::size_t>(got));
        constexpr std::string_view kAbort = "cmd=abort", kCode = "exitcode=";
        is_second_version_ = is_second_version_ || text.find("cmd=fullinit") != std::string_view::npos;
        if (!has_begun_ && (text.find("cmd=init") != std::string_view::npos || is_second_version_)) {
            has_begun_ = true;
            check_library(sender);
        }
        is_finalized_ = is_finalized_ || text.find("cmd=finalize") != std::string_view::npos;
        const std::size_t abort = std::min(text.find(kAbort), text.size());
        pass_on(text.substr(0, abort));
        if (abort == text.size()) return true;
        int code = 1;
        if (const std::size_t at = text.find(kCode, abort); at != std::string_view::npos)
            std::from_chars(text.data() + at + kCode.size(), text.data() + text.size(), code);
        record({.how = RankEndKind::kAborted, .code = code, .before_finalize = is_early(), .at = now()});
        wait_until_read();
        // In a stop MPI also aborts ranks whose peers have ended.
        if (is_stopped_ && !own_abort()) return true;
        std::this_thread::sleep_for(kOnItsWay);
        // The launcher would end with 0.
        const bool looks_good = code != 0 && (code & 0xff) == 0;
        pass_on(looks_good ? std::string_view("cmd=abort exitcode=1\n") : text.substr(abort));
        return true;
    }
    void pass_on(std::string_view text) {
        if (pmi_ && !write_all(*pmi_, text)) close_pmi();
    }
    void to_rank() {
        char chunk[4096];
        const ssize_t got = read(*pmi_, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) return;
        if (got > 0 && is_held_) return;
        if (got > 0 && !has_passed_ && std::string_view(chunk, static_cast<std::size_t>(got)) == "cmd=barrier_out\n") {
            has_passed_ = true;
            is_held_ = others_have_left();
            if (is_held_ || !pmi_) return;
        }
        if (got <= 0 || !write_all(pair_, {chunk, static_cast<std::size_t>(got)})) close_pmi();
    }
    void close_pmi() {
        close(*pmi_);
        pmi_.reset();
        if (pair_ >= 0) shutdown(pair_, SHUT_WR);
    }

    static Time now() {
        return Time{std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
    }
    /// A rank that has called MPI_Abort also exits: the first of its ends counts.
    void record(RankEnd end, const std::string& fault = {}) {
        const char* folder = std::getenv(kRankEndsVariable);
        const std::optional<int> rank = number_in(rank_variable());
        if (is_aborted_ || folder == nullptr || !rank) return;
        is_aborted_ = end.how == RankEndKind::kAborted;
        end.rank = *rank;
        end.in_stop = is_stopped_;
        process::write_file(std::string(folder) + "/" + rank_end_file(*rank), rank_end_text(end) + fault);
    }
    std::string read_fault() const {
        char text[512];
        const ssize_t got = read(fault_, text, sizeof text);
        return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : std::string{};
    }

    /// Until the proxy has read what lies in the pipes of the rank's output.
    static void wait_until_read() {
        const auto end = SteadyClock::now() + kRead;
        const auto left = [](int fd) {
            int bytes = 0;
            return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
        };
        const auto is_pipe = [](int fd) {
            struct stat info {};
            return fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode));
        };
        for (const int fd : {1, 2})
            while (is_pipe(fd) && left(fd) && SteadyClock::now() < end) std::this_thread::sleep_for(kBetweenChecks);
    }

    const pid_t child_;
    std::optional<int> pmi_;
    int pair_;
    const int fault_;
    const int signals_;
    bool has_begun_ = false, is_finalized_ = false, is_aborted_ = false, is_stopped_ = false;
    bool is_ended_by_launcher_ = false;  ///< Open MPI's daemon sends SIGTERM if another rank has ended
    bool is_marked_ = false;             ///< its rank, as one of Open MPI that left early
    bool has_joined_ = false;            ///< the launcher, in place of its rank
    bool has_passed_ = false;            ///< the first barrier
    bool is_held_ = false;               ///< its rank, in MPI_Init
    bool is_second_version_ = false;     ///< of PMI
    bool is_unprofiled_ = false;         ///< its program has not loaded the zone's library
    std::optional<int> end_;
    std::optional<std::chrono::milliseconds> look_ = kFirstCheck;  ///< until the next one; none where no more are due
};

/// The user's variables get their names: launchers, shells and this program ran without them.
void take_environment() {
    constexpr std::string_view kPrefix = kRankEnvironmentPrefix;
    std::vector<std::string> carried;
    for (char** variable = environ; *variable != nullptr; ++variable)
        if (std::string_view(*variable).starts_with(kPrefix)) carried.emplace_back(*variable);
    for (const std::string& text : carried) {
        const std::size_t equals = text.find('=');
        unsetenv(text.substr(0, equals).c_str());
        setenv(text.substr(kPrefix.size(), equals - kPrefix.size()).c_str(), text.c_str() + equals + 1, 1);
    }
}

/// The user's LD_PRELOAD took the place of the zone's: both are loaded, hers first, so that her tool sees all calls.
void preload_profiler() {
    const char* profiler = std::getenv(kRankPreloadVariable);
    const char* now = std::getenv("LD_PRELOAD");
    if (profiler == nullptr || now == nullptr || std::strstr(now, profiler) != nullptr) return;
    setenv("LD_PRELOAD", (std::string(now) + ":" + profiler).c_str(), 1);
}

/// Becomes the program; where it cannot, the reason goes to `fault` and to standard error.
[[noreturn]] void become_program(char** argv, int fault) {
    take_environment();
    preload_profiler();
    std::string text = set_own_limits([](const char* name) { return std::getenv(name); });
    int why = 0;
    if (text.empty()) {
        ExecuteFault unable = execute_program(argv);
        why = unable.error;
        text = std::move(unable.text);
    }
    // One line, also if a name has several.
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    text += "\n";
    std::fputs(text.c_str(), stderr);
    write_all(fault, text);
    _exit(why == ENOENT ? 127 : 126);
}

using SteadyClock = std::chrono::steady_clock;

constexpr timespec kRest{0, 200'000'000};
constexpr std::chrono::seconds kAlone{1};  ///< that the launcher has when nothing else is alive

/// The program that may launch others, until it has ended, and in a stop until all that it launched have; its wait
/// status. `watched` is blocked.
int await(pid_t launcher, const StepId& tasks, const sigset_t& watched) {
    std::optional<int> end;
    bool is_stopped = false;
    std::optional<SteadyClock::time_point> kill_at;
    for (;;) {
        int status = 0;
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == launcher) end = status;
        if (end && (!is_stopped || has_only(tasks, {}))) return *end;
        if (is_stopped && !end && !kill_at && has_only(tasks, {launcher})) kill_at = SteadyClock::now() + kAlone;
        if (!end && kill_at && SteadyClock::now() >= *kill_at) kill(launcher, SIGKILL);
        const int signal = is_stopped ? sigtimedwait(&watched, nullptr, &kRest) : sigwaitinfo(&watched, nullptr);
        if (is_stopped || (signal != SIGURG && signal != SIGTERM)) continue;
        is_stopped = true;
        ask_tree(tasks, launcher);
    }
}

}  // namespace

int run_rank(int argc, char** argv) {
    if (argc < 3) return std::fputs("usage: zbs-step rank PROGRAM ARGS...\n", stderr), 2;
    const std::optional<int> pmi = number_in(kPmi);
    int pair[2] = {-1, -1};
    int fault[2];
    const int is_named = 1;  // the sender of a request
    if ((pmi && (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
                 setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &is_named, sizeof is_named) != 0)) ||
        pipe2(fault, O_CLOEXEC | O_NONBLOCK) != 0)
        return std::perror("zbs-step rank"), 125;
    // The end of a tree is announced to all of it: the rank obeys, and this process records its end.
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGCHLD, SIGTERM}) sigaddset(&watched, number);
    sigset_t before;
    signal(SIGCHLD, SIG_DFL);  // ignored, as a parent may have it, the end of the rank would not be noticed
    sigprocmask(SIG_BLOCK, &watched, &before);
    const int signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t parent = getpid(), child = fork();
    if (child < 0 || signals < 0) return std::perror("zbs-step rank"), 125;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(125);
        sigprocmask(SIG_SETMASK, &before, nullptr);
        if (pmi) {
            dup2(pair[1], *pmi);  // under the number in its environment
            close(pair[0]);
            close(pair[1]);
        }
        become_program(argv + 2, fault[1]);
    }
    if (pmi) close(pair[1]);
    for (const int number : {SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) signal(number, SIG_IGN);
    Rank rank(child, pmi, pair[0], fault[0], signals);
    const int status = rank.run();
    rank.ended(status);
    if (rank.is_stopped()) return 0;
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &watched, nullptr);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int run_launcher(int argc, char** argv) {
    if (argc < 4) return std::fputs("usage: zbs-step launcher STEP PROGRAM ARGS...\n", stderr), 2;
    // A mark of its own: srun, which carries that of the step, may be on this host, too.
    const StepId tasks(std::string(argv[2]) + "-tasks");
    setenv(process::step_variable(tasks).c_str(), "1", 1);
    sigset_t watched, before;
    sigemptyset(&watched);
    for (const int number : {SIGCHLD, SIGURG, SIGTERM}) sigaddset(&watched, number);
    signal(SIGCHLD, SIG_DFL);  // ignored, as a parent may have it, the end of the launcher would not be noticed
    sigprocmask(SIG_BLOCK, &watched, &before);
    const pid_t parent = getpid(), launcher = fork();
    if (launcher < 0) return std::perror("zbs-step launcher"), 125;
    if (launcher == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(125);
        setsid();  // supervisors of ranks take a signal from another session for that of a stop
        sigprocmask(SIG_SETMASK, &before, nullptr);
        execvp(argv[3], argv + 3);
        const int why = errno;
        std::fprintf(stderr, "cannot run %s: %s\n", argv[3], std::strerror(why));
        _exit(why == ENOENT ? 127 : 126);
    }
    const int status = await(launcher, tasks, watched);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace zbs::step
