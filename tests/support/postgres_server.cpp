#include "tests/support/postgres_server.hpp"

#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "algorithms/base/expects.hpp"

namespace zbs::test {
namespace {

constexpr std::chrono::seconds kDeadline{120};

const passwd* account() {
    if (geteuid() != 0) return nullptr;
    const passwd* found = getpwnam("postgres");
    return found != nullptr ? found : getpwnam("nobody");
}

/// The newest that Debian has installed.
std::string find_programs() {
    std::string newest;
    std::error_code none;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
        const std::string bin = version.path().string() + "/bin";
        if (std::filesystem::exists(bin + "/initdb", none) && bin > newest) newest = bin;
    }
    return newest;
}

/// As the account, and ended with this program.
int spawn(std::vector<std::string> words, const std::string& folder) {
    const passwd* const as = account();
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    ZBS_EXPECTS(pid >= 0);
    if (pid > 0) return pid;
    const int log = open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    if (as != nullptr && (setgroups(0, nullptr) != 0 || setgid(as->pw_gid) != 0 || setuid(as->pw_uid) != 0)) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() != parent || chdir(folder.c_str()) != 0) _exit(126);
    execv(arguments[0], arguments.data());
    _exit(127);
}

int wait_for(int pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

}  // namespace

std::filesystem::path PostgresServer::place() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code none;
    const std::filesystem::space_info space = std::filesystem::space(memory, none);
    return !none && space.available > 1'000'000'000 ? memory : std::filesystem::temp_directory_path();
}

PostgresServer* PostgresServer::shared() {
    static const std::unique_ptr<PostgresServer> server = []() -> std::unique_ptr<PostgresServer> {
        const std::string programs = find_programs();
        if (programs.empty()) return nullptr;
        std::unique_ptr<PostgresServer> made(new PostgresServer);
        made->programs_ = programs;
        if (const passwd* as = account(); as != nullptr)
            ZBS_EXPECTS(chown(made->folder_.path().c_str(), as->pw_uid, as->pw_gid) == 0);
        const int status = wait_for(spawn({programs + "/initdb", "-D", made->folder_.path("data"), "-U", "zbs",
                                           "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"},
                                          made->folder_.path()));
        ZBS_EXPECTS(status == 0);
        made->start();
        return made;
    }();
    return server.get();
}

PostgresServer::~PostgresServer() { stop(SIGQUIT); }

std::string PostgresServer::url() const { return "postgresql://zbs@/postgres?host=" + folder_.path(); }

std::string PostgresServer::fresh_schema() { return "zone-" + std::to_string(++schemas_); }

void PostgresServer::start() {
    pid_ = spawn({programs_ + "/postgres", "-D", folder_.path("data"), "-k", folder_.path(), "-c",
                  "listen_addresses=", "-c", "shared_buffers=16MB", "-c", "max_connections=50"},
                 folder_.path());
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (PQping(url().c_str()) != PQPING_OK) {
        ZBS_EXPECTS(std::chrono::steady_clock::now() < end);
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
}

void PostgresServer::stop(int signal) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    wait_for(pid_);
    pid_ = -1;
}

void PostgresServer::crash_and_restart() {
    stop(SIGQUIT);
    start();
}

}  // namespace zbs::test
