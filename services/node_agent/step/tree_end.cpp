#include "services/node_agent/step/tree_end.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "services/common/adapters/process/step_processes.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::step {
namespace {
using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kSoon{5};
constexpr timespec kShortRest{0, 20'000'000};
constexpr timespec kLongRest{1, 0};
constexpr std::chrono::seconds kHeldSoon{2};  ///< a process that is not held by then is left as it is
constexpr timespec kBetweenRounds{0, 1'000'000};

std::vector<process::ProcessRef> find_tree(const StepId& step_id) {
    return process::find_marked(process::step_variable(step_id), getpid());
}

/// The control group (v2) of a process where it is the step's own; else nothing.
std::string own_group_of(pid_t pid, const StepId& step_id) {
    const std::string text = process::read_file("/proc/" + std::to_string(pid) + "/cgroup").value_or("");
    const std::size_t at = text.starts_with("0::") ? 0 : text.find("\n0::");
    if (at == std::string::npos) return {};
    const std::size_t begin = text.find("::", at) + 2;
    const std::string group = text.substr(begin, text.find('\n', begin) - begin);
    return group.ends_with("/step-" + step_id) ? group : std::string{};
}

struct Relation {
    pid_t parent = 0;
    std::string name;
};

/// From /proc/PID/stat: "PID (NAME) STATE PARENT ...". The name may hold any letter.
std::optional<Relation> relation_of(pid_t pid) {
    const std::string text = process::read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
    const std::size_t begin = text.find('('), end = text.rfind(')');
    if (begin == std::string::npos || end == std::string::npos || end < begin || text.size() < end + 4)
        return std::nullopt;
    return Relation{static_cast<pid_t>(std::atol(text.c_str() + end + 4)),
                    printable_text(std::string_view(text).substr(begin + 1, end - begin - 1), 64)};
}

/// Whether no thread of a process that got SIGSTOP may be at a fork still. One that sleeps, also in the freezer of a
/// control group, takes the signal before it goes on.
bool is_held(pid_t pid) {
    return std::ranges::none_of(process::threads_of(pid), [pid](pid_t thread) {
        const std::string text =
            process::read_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/stat")
                .value_or("");
        const std::size_t end = text.rfind(')');
        return end != std::string::npos && end + 2 < text.size() && text[end + 2] == 'R';
    });
}

/// Whether `adopter` has a child beside `program`. True also where the kernel does not list children.
bool may_have_adopted(pid_t adopter, pid_t program) {
    const std::string number = std::to_string(adopter);
    const auto children = process::read_file("/proc/" + number + "/task/" + number + "/children");
    if (!children) return true;
    std::istringstream words(*children);
    for (pid_t pid; words >> pid;)
        if (pid != program) return true;
    return false;
}

void kill_group(const std::string& group) {
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        const int fd = open((mount + group + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) continue;
        [[maybe_unused]] const ssize_t ignored = write(fd, "1", 1);
        close(fd);
    }
}

void kill_all(const std::vector<process::ProcessRef>& tree, const StepId& step_id) {
    std::set<std::string> groups;
    for (const process::ProcessRef& process : tree) {
        if (const std::string group = own_group_of(process.pid, step_id); !group.empty()) groups.insert(group);
    }
    // Where this process were in it, it would go, too.
    groups.erase(own_group_of(getpid(), step_id));
    for (const std::string& group : groups) kill_group(group);
    for (const process::ProcessRef& process : tree) send_signal(process, SIGKILL);
}

}  // namespace

void ask_tree(const StepId& step_id, pid_t spared) {
    // All are held first: a process that is forked between a look and the signal to its parent would get none. A
    // process may still fork while its SIGSTOP is on the way, so at the last look none of them runs.
    std::vector<process::ProcessRef> held;
    const auto until = Steady::now() + kHeldSoon;
    while (true) {
        const bool was_still = std::ranges::all_of(held, is_held, &process::ProcessRef::pid);
        const std::size_t before = held.size();
        for (const process::ProcessRef& process : find_tree(step_id)) {
            if (process.pid == spared || std::ranges::find(held, process) != held.end()) continue;
            held.push_back(process);
            send_signal(process, SIGSTOP);
        }
        if ((held.size() == before && was_still) || Steady::now() >= until) break;
        if (held.size() == before) nanosleep(&kBetweenRounds, nullptr);
    }
    // The supervisor of a rank has to know of the stop before the rank ends by it.
    std::ranges::stable_sort(held, {}, &process::ProcessRef::start_time);
    for (const int signal : {SIGTERM, SIGCONT})
        for (const process::ProcessRef& process : held) send_signal(process, signal);
}

bool has_only(const StepId& step_id, const std::set<pid_t>& processes) {
    return std::ranges::all_of(find_tree(step_id),
                               [&](const process::ProcessRef& process) { return processes.contains(process.pid); });
}

Leftover find_leftover(const StepId& step_id, pid_t child, pid_t program) {
    Leftover left;
    // A process whose parent has ended is adopted by this one, or by the first process of its namespace.
    const pid_t adopter = child == program ? getpid() : child;
    if (!may_have_adopted(adopter, program)) return left;
    std::map<pid_t, Relation> tree;
    for (const process::ProcessRef& process : find_tree(step_id)) {
        if (process.pid == child || process.pid == program) continue;
        const std::optional<Relation> relation = relation_of(process.pid);
        if (!relation) continue;
        tree.emplace(process.pid, *relation);
        left.processes.push_back(process);
    }
    for (const auto& [pid, relation] : tree) {
        const bool is_adopted = relation.parent == getpid() || relation.parent == adopter;
        if (!is_adopted && !tree.contains(relation.parent)) return {};  // of the program, which goes on
        if (is_adopted && left.first.empty()) left.first = std::to_string(pid) + " (" + relation.name + ")";
    }
    return left;
}

std::string reason_of(const Leftover& leftover) {
    if (leftover.first.empty()) return {};
    return ": the program had ended, but process " + leftover.first + " that it left behind had not";
}

void kill_tree(const StepId& step_id) { kill_all(find_tree(step_id), step_id); }

std::string end_tree(const TreeEnd& tree) {
    const Steady::time_point begin = Steady::now();
    sigset_t but_children = tree.watched;  // what forks without end must not keep this awake
    sigdelset(&but_children, SIGCHLD);
    bool is_late = false;
    std::vector<process::ProcessRef> asked;
    while (true) {
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        const std::vector<process::ProcessRef> left = find_tree(tree.step_id);
        if (left.empty()) break;
        const Steady::time_point now = Steady::now();
        if (now >= tree.kill_at)
            kill_all(left, tree.step_id);
        else if (!tree.is_asked)
            for (const process::ProcessRef& process : left) {
                if (std::ranges::find(asked, process) != asked.end()) continue;
                asked.push_back(process);
                send_signal(process, SIGTERM);
            }
        if (!is_late && now - begin >= kSoon) {
            is_late = true;
            std::fprintf(stderr, "zbs-step: %zu processes do not end, one is %d; the step has not ended before them\n",
                         left.size(), static_cast<int>(left.front().pid));
            std::fflush(stderr);
        }
        sigtimedwait(is_late ? &but_children : &tree.watched, nullptr, is_late ? &kLongRest : &kShortRest);
    }
    if (!is_late) return {};
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(Steady::now() - begin);
    return "what it left behind took " + std::to_string(took.count()) + " s to end";
}

}  // namespace zbs::step
