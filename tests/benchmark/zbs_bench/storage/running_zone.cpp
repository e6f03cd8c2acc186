#include "tests/benchmark/zbs_bench/storage/running_zone.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace zbs::bench {

void RunningZone::configure(const std::string& folder) {
    std::filesystem::create_directories(folder);
    // A job keeps the only processor for the 10 s that a launcher has; the rest waits, as where a queue is full.
    const std::string launcher = folder + "/launcher";
    std::ofstream(launcher) << "#!/bin/sh\nexec sleep 100000\n";
    std::filesystem::permissions(launcher, std::filesystem::perms::owner_all);
    std::ofstream(folder + "/zone.toml") << "name = \"bench\"\norganisation = \"alpha\"\nstate = \"" << folder
                                         << "/state\"\nlisten = \"127.0.0.1:0\"\nrun_as = \"self\"\n"
                                         << "[[machine]]\nname = \"m0\"\nprocessors = 1\n"
                                         << "[mpi]\nmpiexec = \"" << launcher << "\"\nprofiler = \"\"\n"
                                         << "[rates]\nuser_per_s = 0\nanonymous_per_s = 0\nconnection_per_s = 0\n";
}

Result<RunningZone> RunningZone::start(const std::string& program, const std::string& folder) {
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return Error{ErrorCode::kUnavailable, "no pipe", {}};
    const std::string config = folder + "/zone.toml", log = folder + "/log";
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], 1);
        const int file = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
        dup2(file, 2);
        execl(program.c_str(), program.c_str(), "run", "--config", config.c_str(), nullptr);
        _exit(127);
    }
    close(pipe_ends[1]);
    std::string text;
    char piece[256];
    while (text.find(" listening on ") == std::string::npos || text.back() != '\n') {
        const ssize_t got = read(pipe_ends[0], piece, sizeof piece);
        if (got <= 0) {
            int status = 0;
            waitpid(child, &status, 0);
            close(pipe_ends[0]);
            return Error{ErrorCode::kUnavailable, program + " did not start; see " + log, {}};
        }
        text.append(piece, static_cast<std::size_t>(got));
    }
    // The pipe stays open in this process: closing it would end the zone at its next word.
    return RunningZone(child, std::atoi(text.c_str() + text.rfind(':') + 1), folder);
}

RunningZone::RunningZone(RunningZone&& other) noexcept
    : process_(std::exchange(other.process_, 0)), port_(other.port_), folder_(std::move(other.folder_)) {}
RunningZone::~RunningZone() { end(SIGTERM); }
void RunningZone::kill() { end(SIGKILL); }

void RunningZone::end(int signal) {
    const pid_t process = std::exchange(process_, 0);
    if (process == 0) return;
    ::kill(process, signal);
    int status = 0;
    waitpid(process, &status, 0);
}

double RunningZone::resident_megabytes() const {
    long total = 0, resident = 0;
    std::ifstream("/proc/" + std::to_string(process_) + "/statm") >> total >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576;
}

std::string RunningZone::token() const {
    std::string token;
    std::ifstream(folder_ + "/state/local_token") >> token;
    return token;
}

Connection::Connection(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        close(socket_);
        socket_ = -1;
    }
}
Connection::~Connection() {
    if (socket_ >= 0) close(socket_);
}

int Connection::call(const std::string& method, const std::string& path, const std::string& headers,
                     const std::string& content) {
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers;
    if (!content.empty())
        text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(content.size()) + "\r\n";
    text += "\r\n" + content;
    for (std::size_t sent = 0; sent < text.size();) {
        const ssize_t wrote = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (wrote <= 0) return 0;
        sent += static_cast<std::size_t>(wrote);
    }
    buffer_.clear();
    std::size_t head = std::string::npos, length = 0;
    char piece[16'384];
    while (head == std::string::npos || buffer_.size() < head + length) {
        const ssize_t got = recv(socket_, piece, sizeof piece, 0);
        if (got <= 0) return 0;
        buffer_.append(piece, static_cast<std::size_t>(got));
        if (head != std::string::npos || (head = buffer_.find("\r\n\r\n")) == std::string::npos) continue;
        head += 4;
        const std::size_t at = buffer_.find("Content-Length: ");
        length = at < head ? std::strtoul(buffer_.c_str() + at + 16, nullptr, 10) : 0;
    }
    body_ = buffer_.substr(head, length);
    return std::atoi(buffer_.c_str() + 9);
}

}  // namespace zbs::bench
