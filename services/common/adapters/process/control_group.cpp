#include "services/common/adapters/process/control_group.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "algorithms/base/text.hpp"
#include "services/common/adapters/descriptor/descriptor.hpp"
#include "services/common/adapters/process/start/starter_message.hpp"

namespace zbs::process {
namespace {

constexpr std::chrono::milliseconds kFreezeWithin{100};

/// Files of control groups take one write of the whole text.
bool put(const std::string& path, const std::string& text) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

constexpr int kSharesAsWithout = 1'024;  ///< of v1
constexpr int kMinShares = 2, kMaxShares = 262'144;

/// The path of a process in the v1 hierarchy of the processor controller; empty where there is none.
std::string processor_group_of(const std::string& process) {
    const std::string text = read_file("/proc/" + process + "/cgroup").value_or("");
    for (const std::string_view line : split(text, '\n')) {  // as 4:cpu,cpuacct:/a/b
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        if (std::ranges::count(split(line.substr(first + 1, second - first - 1), ','), "cpu") > 0)
            return std::string(line.substr(second + 1));
    }
    return {};
}

/// The path behind "0::" in /proc/PID/cgroup; empty where there is none.
std::string group_of(const std::string& process) {
    const auto text = read_file("/proc/" + process + "/cgroup");
    if (!text) return {};
    const std::size_t at = text->starts_with("0::") ? 0 : text->find("\n0::");
    if (at == std::string::npos) return {};
    const std::size_t begin = text->find("::", at) + 2;
    return text->substr(begin, text->find('\n', begin) - begin);
}

/// Where the cgroup2 file system is mounted; empty where it is not.
std::string find_mount() {
    for (const char* path : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        if (access((std::string(path) + "/cgroup.controllers").c_str(), F_OK) == 0) return path;
    }
    return {};
}

/// The folder of the group at that path of its hierarchy; empty where this process may not divide it.
std::string find_writable(const std::string& group) {
    const std::string mount = find_mount();
    // The root group belongs to the host, whoever may write it.
    if (mount.empty() || group.size() <= 1) return {};
    std::string folder = mount + group;
    if (access(folder.c_str(), W_OK) != 0 || access((folder + "/cgroup.procs").c_str(), W_OK) != 0) return {};
    return folder;
}

}  // namespace

std::string ControlGroup::find_delegated() { return find_writable(group_of("self")); }

std::string ControlGroup::find_delegated_to(pid_t starter) {
    std::string group = group_of(std::to_string(starter));
    const std::string inner = "/" + std::string(kStarterGroup);
    if (group.ends_with(inner)) group.resize(group.size() - inner.size());
    return find_writable(group);
}

bool ControlGroup::make_room(const std::string& name) {
    const std::string folder = find_delegated();
    if (folder.empty() || folder.ends_with("/" + name)) return !folder.empty();
    mkdir((folder + "/" + name).c_str(), 0755);
    return put(folder + "/" + name + "/cgroup.procs", std::to_string(getpid()));
}

Result<void> ControlGroup::check(const std::string& folder) {
    const auto refused = [&](const std::string& what, int fault) {
        return Error{ErrorCode::kUnavailable, folder + " " + what + ": " + std::strerror(fault), {}};
    };
    const auto can = [](const std::string& path, int mode) { return access(path.c_str(), mode) == 0; };
    if (!can(folder, F_OK)) {
        // The kernel alone makes the files of a group: what holds none is not one.
        const std::string parent = std::filesystem::path(folder + "/..").lexically_normal().string();
        if (!can(parent + "/cgroup.procs", F_OK) || !can(parent, W_OK | X_OK))
            return refused("is not there, and no control group can be made in its place", errno);
        return {};
    }
    const bool is_v1 = can(folder + "/cpu.shares", F_OK);
    if (is_v1 ? can(folder, W_OK | X_OK) : can(folder + "/cgroup.freeze", W_OK)) return {};
    return refused("is no control group that this service may divide", errno);
}

Result<std::unique_ptr<ControlGroup>> ControlGroup::open(const std::string& folder) {
    auto group = std::unique_ptr<ControlGroup>(new ControlGroup(folder));
    const auto refused = [&](const std::string& what) {
        return Error{ErrorCode::kUnavailable, what + ": " + std::strerror(errno), folder};
    };
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return refused("no control group can be made here");
    if (access((folder + "/cpu.shares").c_str(), F_OK) == 0) {
        const std::string attempt = group->of("attempt");
        if (mkdir(attempt.c_str(), 0755) != 0 && errno != EEXIST) return refused("no control group can be made here");
        group->is_v1_ = group->has_weights_ = put(attempt + "/cpu.shares", std::to_string(kSharesAsWithout));
        rmdir(attempt.c_str());
        if (!group->is_v1_) return refused("this service may not weigh control groups here");
        return group;
    }
    if (access((folder + "/cgroup.freeze").c_str(), W_OK) != 0)
        return refused("this is no control group (v2) that this service may freeze");
    // A group that gives its controllers to others may hold no process itself.
    const std::string own = group_of("self");
    const std::string agent = folder + "/agent";
    if (own.size() > 1 && folder.ends_with(own)) {
        mkdir(agent.c_str(), 0755);
        if (!put(agent + "/cgroup.procs", std::to_string(getpid())))
            return refused("this service cannot make room here");
    }
    const auto controllers = read_file(folder + "/cgroup.controllers");
    group->has_weights_ = controllers && (" " + *controllers).find(" cpu") != std::string::npos &&
                          put(folder + "/cgroup.subtree_control", "+cpu");
    return group;
}

bool ControlGroup::take(const StepId& step_id, const ProcessRef& process) {
    if (mkdir(of(step_id).c_str(), 0755) != 0 && errno != EEXIST) return false;
    return is_alive(process) && put(of(step_id) + "/cgroup.procs", std::to_string(process.pid));
}

bool ControlGroup::holds(const StepId& step_id, const ProcessRef& process) const {
    const std::string pid = std::to_string(process.pid);
    return ("/" + (is_v1_ ? processor_group_of(pid) : group_of(pid))).ends_with("/step-" + step_id);
}

Result<void> ControlGroup::freeze(const StepId& step_id, bool frozen) {
    if (access(of(step_id).c_str(), F_OK) != 0) return {};
    if (!put(of(step_id) + "/cgroup.freeze", frozen ? "1" : "0"))
        return Error{ErrorCode::kUnavailable, std::string("cannot freeze: ") + std::strerror(errno), of(step_id)};
    if (!frozen) return {};
    const auto end = std::chrono::steady_clock::now() + kFreezeWithin;
    while (std::chrono::steady_clock::now() < end) {
        const auto events = read_file(of(step_id) + "/cgroup.events");
        if (!events || events->find("frozen 1") != std::string::npos) return {};
        std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
    return Error{ErrorCode::kTimeout, "a process does not stand still; it may wait for a disk", of(step_id)};
}

Result<void> ControlGroup::set_weight(const StepId& step_id, int weight) {
    const int shares = std::clamp(weight * kSharesAsWithout / 100, kMinShares, kMaxShares);
    const std::string file = of(step_id) + (is_v1_ ? "/cpu.shares" : "/cpu.weight");
    const std::string text = std::to_string(is_v1_ ? shares : weight);
    if (put(file, text)) return {};
    // Where its owner was started anew, controllers are given to nobody any more.
    if (!is_v1_ && put(folder_ + "/cgroup.subtree_control", "+cpu") && put(file, text)) return {};
    return Error{ErrorCode::kUnavailable, std::string("cannot set the weight: ") + std::strerror(errno), of(step_id)};
}

void ControlGroup::remove(const StepId& step_id) { rmdir(of(step_id).c_str()); }

}  // namespace zbs::process
