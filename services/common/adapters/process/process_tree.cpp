#include "services/common/adapters/process/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "services/common/adapters/descriptor/descriptor.hpp"

namespace zbs::process {
namespace {

std::optional<ProcessStat> stat_of(pid_t pid) { return read_stat("/proc/" + std::to_string(pid) + "/stat"); }

std::map<pid_t, ProcessStat> read_processes() {
    std::map<pid_t, ProcessStat> processes;
    DIR* proc = opendir("/proc");
    if (proc == nullptr) return processes;
    while (const dirent* entry = readdir(proc)) {
        const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name));
        if (pid <= 0) continue;
        if (const auto stat = stat_of(pid)) processes.emplace(pid, *stat);
    }
    closedir(proc);
    return processes;
}

/// Zombies are links of the chain too. The steps are counted: numbers that were given anew while the processes were
/// read could make a circle.
bool descends(const std::map<pid_t, ProcessStat>& processes, pid_t pid, pid_t ancestor) {
    if (ancestor <= 0) return false;
    for (std::size_t steps = 0; steps <= processes.size(); ++steps) {
        const auto at = processes.find(pid);
        if (at == processes.end()) return false;
        pid = at->second.parent;
        if (pid == ancestor) return true;
    }
    return false;
}

/// `mark` is "NAME=".
bool carries(pid_t pid, const std::string& mark) {
    const auto environment = read_file("/proc/" + std::to_string(pid) + "/environ", 4 * 1024 * 1024);
    return environment && (environment->starts_with(mark) || environment->find('\0' + mark) != std::string::npos);
}

}  // namespace

std::optional<ProcessStat> read_stat(const std::string& path) {
    const auto text = read_file(path, 4096);
    if (!text) return std::nullopt;
    const std::size_t name_end = text->rfind(')');  // the name may hold spaces and brackets
    if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
    ProcessStat stat;
    const int got = std::sscanf(text->c_str() + name_end + 2,
                                "%c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %ld %*d %llu",
                                &stat.state, &stat.parent, &stat.session, &stat.user, &stat.system, &stat.children_user,
                                &stat.children_system, &stat.threads, &stat.start_time);
    return got == 9 ? std::optional(stat) : std::nullopt;
}

std::optional<std::string> read_file(const std::string& path, std::size_t limit) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return std::nullopt;
    std::string text;
    char chunk[4096];
    while (text.size() < limit) {
        const ssize_t got = read(file.get(), chunk, std::min(sizeof chunk, limit - text.size()));
        if (got <= 0) break;
        text.append(chunk, static_cast<std::size_t>(got));
    }
    return text;
}

bool write_file(const std::string& path, const std::string& text) {
    const std::string temporary = path + ".new";
    const Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    return file && write_all(file.get(), text) && fsync(file.get()) == 0 &&
           rename(temporary.c_str(), path.c_str()) == 0;
}

std::optional<ProcessRef> find_process(pid_t pid) {
    const auto stat = stat_of(pid);
    if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
    return ProcessRef{pid, stat->start_time};
}

bool is_alive(const ProcessRef& process) { return process.pid > 0 && find_process(process.pid) == process; }

bool sees_closed_processes() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return true;
    const pid_t child = fork();
    char word = '-';
    if (child == 0) {  // closes itself, says so, and goes when the other end is closed, also by the end of this process
        close(ends[0]);
        word = prctl(PR_SET_DUMPABLE, 0) == 0 ? '+' : '-';
        static_cast<void>(!write(ends[1], &word, 1));
        while (read(ends[1], &word, 1) < 0 && errno == EINTR) {
        }
        _exit(0);
    }
    close(ends[1]);
    ssize_t got = 0;
    while (child > 0 && (got = read(ends[0], &word, 1)) < 0 && errno == EINTR) {
    }
    const bool seen = got != 1 || word != '+' || find_process(child).has_value();
    close(ends[0]);
    if (child > 0) waitpid(child, nullptr, 0);
    return seen;
}

bool send_signal(const ProcessRef& process, int signal) {
    const Descriptor target(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
    // The descriptor is bound to whatever has the number now; only then is the start time compared.
    return target && is_alive(process) && syscall(SYS_pidfd_send_signal, target.get(), signal, nullptr, 0) == 0;
}

std::string step_variable(const StepId& step_id) {
    std::string name = "ZBS_STEP_" + step_id;
    for (char& c : name) {
        if (c == '-') c = '_';
    }
    return name;
}

std::optional<ProcessRef> find_first_child(pid_t parent) {
    std::optional<ProcessRef> first;
    for (const auto& [pid, stat] : read_processes()) {
        if (stat.parent != parent || stat.state == 'Z' || stat.state == 'X') continue;
        if (!first || stat.start_time < first->start_time) first = ProcessRef{pid, stat.start_time};
    }
    return first;
}

std::vector<ProcessRef> find_marked(const std::string& variable, pid_t parent) {
    std::vector<ProcessRef> found;
    const std::map<pid_t, ProcessStat> processes = read_processes();
    for (const auto& [pid, stat] : processes) {
        if (pid <= 1 || pid == getpid() || stat.state == 'Z' || stat.state == 'X') continue;
        if (descends(processes, pid, parent) || carries(pid, variable + "=")) found.push_back({pid, stat.start_time});
    }
    return found;
}

}  // namespace zbs::process
