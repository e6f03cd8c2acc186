#include "services/common/adapters/process/account.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "services/common/messages/limits.hpp"

namespace zbs::process {
namespace {

constexpr std::size_t kMaxEntryBytes = 1024 * 1024;

/// Calls `look_up(buffer, size)` with more room until it fits; its error number.
template <class LookUp>
int with_room(LookUp look_up) {
    std::vector<char> room(16 * 1024);
    for (;;) {
        const int fault = look_up(room.data(), room.size());
        if (fault != ERANGE || room.size() >= kMaxEntryBytes) return fault;
        room.resize(room.size() * 2);
    }
}

/// Calls `take` with the entry of this user, if there is one.
void with_user(uid_t uid, const std::function<void(const passwd&)>& take) {
    with_room([&](char* room, std::size_t size) {
        passwd entry{};
        passwd* found = nullptr;
        const int outcome = getpwuid_r(uid, &entry, room, size, &found);
        if (outcome == 0 && found != nullptr) take(entry);
        return outcome;
    });
}

Error refused(std::string_view name, const std::string& why) {
    return {ErrorCode::kRejected, "jobs may not run as account '" + std::string(name) + "': " + why, {}};
}

}  // namespace

Result<Account> find_account(const AccountName& name, uid_t minimum_uid) {
    if (name.empty() || name.str().size() > limits::kMaxAccountNameBytes || name.str().find('\0') != std::string::npos)
        return refused(name.str().substr(0, limits::kMaxAccountNameBytes), "this is no name of an account");
    Account account{.name = name};
    bool known = false;
    const int fault = with_room([&](char* room, std::size_t size) {
        passwd entry{};
        passwd* found = nullptr;
        const int outcome = getpwnam_r(name.str().c_str(), &entry, room, size, &found);
        if (outcome == 0 && found != nullptr) {
            known = true;
            account.uid = entry.pw_uid;
            account.gid = entry.pw_gid;
        }
        return outcome;
    });
    if (!known && fault != 0 && fault != ENOENT && fault != ESRCH && fault != EPERM && fault != EBADF) {
        return Error{ErrorCode::kUnavailable,
                     "account '" + name + "' cannot be looked up: " + std::strerror(fault) + "; try again",
                     {}};
    }
    if (!known) return refused(name, "this host has no such account; make it or correct the account map");
    if (account.uid == 0) return refused(name, "it is root");
    if (account.uid < minimum_uid) {
        return refused(name, "its uid " + std::to_string(account.uid) + " is below the smallest allowed, " +
                                 std::to_string(minimum_uid) +
                                 "; choose another account or lower the zone's smallest uid");
    }
    int count = 64;
    account.groups.resize(static_cast<std::size_t>(count));
    while (getgrouplist(name.str().c_str(), account.gid, account.groups.data(), &count) < 0) {
        if (count <= static_cast<int>(account.groups.size()) || count > limits::kMaxAccountGroups)
            return refused(name, "its groups cannot be listed");
        account.groups.resize(static_cast<std::size_t>(count));
    }
    account.groups.resize(static_cast<std::size_t>(count));
    if (account.gid == 0 || std::find(account.groups.begin(), account.groups.end(), 0U) != account.groups.end())
        return refused(name, "it is a member of group 0");
    return account;
}

namespace {

Result<void> become(uid_t uid) {
    const std::string name = user_name(uid);
    gid_t group = static_cast<gid_t>(uid);
    with_user(uid, [&](const passwd& entry) { group = entry.pw_gid; });
    if (initgroups(name.c_str(), group) == 0 && setresgid(group, group, group) == 0 && setresuid(uid, uid, uid) == 0)
        return {};
    return Error{ErrorCode::kUnavailable, "cannot go on as '" + name + "': " + std::strerror(errno), {}};
}

}  // namespace

std::string check_as_owner(const std::string& folder) {
    struct stat found {};
    if (stat(folder.c_str(), &found) != 0 || found.st_uid == geteuid()) return {};
    const std::string owner = user_name(found.st_uid);
    if (geteuid() != 0)
        return "checked as '" + user_name(geteuid()) + "', but the state folder " + folder + " is of '" + owner +
               "': what that account may read and do can be otherwise; run this as that account";
    if (const Result<void> changed = become(found.st_uid); !changed)
        return "checked as root, not as '" + owner + "', whose the state folder " + folder +
               " is: " + changed.error().message;
    return "checked as '" + owner + "', whose the state folder " + folder + " is, not as root";
}

std::vector<std::pair<std::string, std::string>> login_environment(uid_t uid) {
    std::string name = std::to_string(uid), home = "/", shell = "/bin/sh";
    with_user(uid, [&](const passwd& entry) {
        name = entry.pw_name;
        home = entry.pw_dir;
        if (*entry.pw_shell != '\0') shell = entry.pw_shell;
    });
    return {{"HOME", home}, {"USER", name}, {"LOGNAME", name}, {"SHELL", shell}};
}

std::string user_name(uid_t uid) {
    std::string name = std::to_string(uid);
    with_user(uid, [&](const passwd& entry) { name = entry.pw_name; });
    return name;
}

}  // namespace zbs::process
