#include "services/node_agent/step/confinement.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>

namespace zbs::step {
namespace {

/// Stops at the first failure and keeps its words.
class Steps {
  public:
    bool good() const { return fault_.empty(); }
    const std::string& fault() const { return fault_; }
    void check(bool done, const std::string& what) {
        if (good() && !done) fault_ = what + ": " + std::strerror(errno);
    }

  private:
    std::string fault_;
};

bool put(const char* path, const std::string& text) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int fault = errno;
    if (fd >= 0) close(fd);
    errno = fault;
    return done;
}

void enter_user(Steps& steps, uid_t uid, gid_t gid) {
    prctl(PR_SET_DUMPABLE, 1);  // else the map belongs to root
    const auto map = [](auto id) { return std::to_string(id) + " " + std::to_string(id) + " 1\n"; };
    steps.check(put("/proc/self/setgroups", "deny"), "cannot enter a user namespace");
    steps.check(put("/proc/self/gid_map", map(gid)), "cannot enter a user namespace");
    steps.check(put("/proc/self/uid_map", map(uid)), "cannot enter a user namespace");
    prctl(PR_SET_DUMPABLE, 0);
}

/// The mounts at and below `path` as a tree of their own, to be put elsewhere.
int take_tree(const std::string& path, unsigned recursive) {
    return open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | recursive);
}

bool put_tree(int tree, const std::string& path) {
    const bool done = tree >= 0 && move_mount(tree, "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0;
    const int fault = errno;
    if (tree >= 0) close(tree);
    errno = fault;
    return done;
}

bool set_flags(const std::string& path, std::uint64_t flags, unsigned recursive) {
    mount_attr attributes{};
    attributes.attr_set = flags;
    return mount_setattr(AT_FDCWD, path.c_str(), recursive, &attributes, sizeof attributes) == 0;
}

bool is_below(const std::string& path, const std::string& folder) { return path.starts_with(folder + "/"); }

std::string parent_of(const std::string& path) { return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)); }

/// A mount point cannot be renamed, but a folder above it can, and another could be put in its place. So whatever this
/// user may rename on the way to `path` becomes a mount point too.
void pin_ancestors(Steps& steps, const std::string& path, std::set<std::string>& pinned) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        const std::string folder = path.substr(0, slash);
        if (access(parent_of(folder).c_str(), W_OK) != 0 || !pinned.insert(folder).second) continue;
        steps.check(put_tree(take_tree(folder, AT_RECURSIVE), folder), "cannot pin " + folder);
    }
}

bool make_folders(const std::string& path) {
    for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        if (mkdir(path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
            return false;
        if (slash == std::string::npos) return access(path.c_str(), F_OK) == 0;
    }
}

/// The job's own folders, taken before what is around them is hidden.
struct Visible {
    std::string path;
    int tree;
};

void hide(Steps& steps, const std::string& folder, std::vector<Visible>& visible) {
    steps.check(mount("zbs-hidden", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                      "mode=755,size=1m,nr_inodes=4096") == 0,
                "cannot hide " + folder);
    for (Visible& own : visible) {
        if (!steps.good() || own.tree < 0 || !is_below(own.path, folder)) continue;
        steps.check(make_folders(own.path), "cannot show " + own.path);
        if (steps.good()) steps.check(put_tree(own.tree, own.path), "cannot show " + own.path);
        own.tree = -1;
    }
    steps.check(set_flags(folder, MOUNT_ATTR_RDONLY, 0), "cannot hide " + folder);
}

/// Programs name files in shared folders by their process number, which a namespace would start from 1. `number` is
/// this process's on the host; neighbours there are put far apart here.
void spread_process_numbers(const char* number) {
    const int fd = open("/proc/sys/kernel/pid_max", O_RDONLY | O_CLOEXEC);
    char text[32] = {};
    const ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    constexpr std::uint64_t kFirst = 300, kSpread = 2'654'435'761;
    const std::uint64_t most = got > 0 ? std::strtoull(text, nullptr, 10) : 0;
    if (most <= 2 * kFirst) return;
    const std::uint64_t last = kFirst + std::strtoull(number, nullptr, 10) * kSpread % (most - 2 * kFirst);
    put("/proc/sys/kernel/ns_last_pid", std::to_string(last));  // where the kernel does not have it: as it is
}

/// A /proc without the processes of others. A container that masks parts of its own does not allow one; then the old
/// one stays, in which everything of a process that is not the job's own is closed to it all the same.
void mount_proc(bool own_processes) {
    char number[32] = {};
    const ssize_t size = readlink("/proc/self", number, sizeof number - 1);
    const char* hide_others = own_processes ? nullptr : "hidepid=2";
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, hide_others) != 0) return;
    if (own_processes && size > 0) spread_process_numbers(number);
}

}  // namespace

pid_t fork_into(Namespaces namespaces) {
    if (namespaces == Namespaces::kNone) return fork();
    unsigned long flags = CLONE_NEWNS | SIGCHLD;
    // IPC too: by it MPI libraries (UCX) see that a process of another step is no neighbour to share memory with; they
    // look for its process number otherwise, find none, and give up.
    if (has_processes(namespaces)) flags |= CLONE_NEWPID | CLONE_NEWIPC;
    if (namespaces == Namespaces::kUser) flags |= CLONE_NEWUSER;
    return static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
}

std::string confine(const StepOptions& options, uid_t uid, gid_t gid) {
    Steps steps;
    if (options.namespaces == Namespaces::kUser) enter_user(steps, uid, gid);
    if (!steps.good()) return steps.fault();
    umask(022);
    // Mounts that the host makes later (home folders) still come in; nothing goes out.
    steps.check(mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0, "cannot leave the host's mounts");

    std::vector<Visible> visible;
    std::vector<std::string> own = options.shared;
    if (!options.probe) own.push_back(options.job_folder());
    for (const std::string& path : own) {
        visible.push_back({path, take_tree(path, 0)});
        steps.check(visible.back().tree >= 0, "cannot show " + path);
    }
    std::vector<std::string> hidden = options.hidden;
    std::sort(hidden.begin(), hidden.end());  // an outer folder before what is in it
    if (uid != 0) {
        std::set<std::string> pinned;
        for (const std::string& path : hidden) pin_ancestors(steps, path, pinned);
        for (const std::string& path : options.read_only) pin_ancestors(steps, path, pinned);
    }
    for (const std::string& path : options.read_only) {
        if (!steps.good()) break;
        steps.check(put_tree(take_tree(path, AT_RECURSIVE), path), "cannot protect " + path);
        steps.check(set_flags(path, MOUNT_ATTR_RDONLY, AT_RECURSIVE), "cannot protect " + path);
    }
    std::vector<std::string> done;
    for (const std::string& path : hidden) {
        const bool inside =
            std::any_of(done.begin(), done.end(), [&](const std::string& outer) { return is_below(path, outer); });
        if (inside || !steps.good()) continue;
        hide(steps, path, visible);
        done.push_back(path);
    }
    for (const Visible& rest : visible) {
        if (rest.tree >= 0) close(rest.tree);
    }
    if (!steps.good()) return steps.fault();
    mount_proc(has_processes(options.namespaces));
    steps.check(chdir("/") == 0, "cannot leave the service's folder");
    return steps.fault();
}

void drop_bounding_set() {
    for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
        prctl(PR_CAPBSET_DROP, capability);
}

std::string drop_privileges() {
    Steps steps;
    steps.check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "cannot give up new privileges");
    drop_bounding_set();
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    steps.check(syscall(SYS_capset, &header, data) == 0, "cannot give up capabilities");
    steps.check(syscall(SYS_capget, &header, data) == 0, "cannot look at capabilities");
    for (const __user_cap_data_struct& half : data) {
        errno = EPERM;
        steps.check(half.effective == 0 && half.permitted == 0 && half.inheritable == 0, "capabilities are left");
    }
    // Executing a program gives root what the bounding set has.
    for (unsigned long capability = 0; geteuid() == 0 && prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
        errno = EPERM;
        steps.check(prctl(PR_CAPBSET_READ, capability) == 0, "root would get capabilities back");
    }
    return steps.fault();
}

}  // namespace zbs::step
