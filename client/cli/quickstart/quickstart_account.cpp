#include "client/cli/quickstart/quickstart_account.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace zbs::cli {
namespace {

Result<void> changed(bool done, const QuickstartAccount& account) {
    if (done) return {};
    return Error{ErrorCode::kUnavailable,
                 "cannot change to the account '" + account.name + "': " + std::strerror(errno), "--user"};
}

}  // namespace

Result<QuickstartAccount> choose_account(const std::string& wanted) {
    const passwd* found = nullptr;
    const char* const sudo = std::getenv("SUDO_USER");
    const bool has_sudo = sudo != nullptr && std::strcmp(sudo, "root") != 0 && *sudo != '\0';
    std::string name = wanted;
    if (name.empty() && geteuid() != 0) {
        found = getpwuid(geteuid());
        if (found == nullptr) return QuickstartAccount{geteuid(), getegid(), std::to_string(geteuid())};
    } else {
        if (name.empty()) name = has_sudo ? sudo : "nobody";
        found = getpwnam(name.c_str());
    }
    if (found == nullptr)
        return Error{ErrorCode::kInvalidArgument, "this machine has no account '" + name + "'; name one with --user",
                     "--user"};
    if (geteuid() != 0 && found->pw_uid != geteuid())
        return Error{ErrorCode::kInvalidArgument, "only root can start it as another account, here '" + name + "'",
                     "--user"};
    const bool is_user = geteuid() != 0 || (sudo != nullptr && std::strcmp(sudo, found->pw_name) == 0);
    return QuickstartAccount{found->pw_uid, found->pw_gid, found->pw_name, is_user || found->pw_uid == 0};
}

Result<void> change_to(const QuickstartAccount& account) {
    if (account.uid == geteuid()) return {};
    return changed(seteuid(0) == 0 && initgroups(account.name.c_str(), account.gid) == 0 &&
                       setresgid(account.gid, account.gid, account.gid) == 0 &&
                       setresuid(account.uid, account.uid, 0) == 0,
                   account);
}

Result<void> with_own_rights(const QuickstartAccount& account, const std::function<Result<void>()>& act) {
    if (seteuid(0) != 0) return act();  // there are no others
    Result<void> done = act();
    if (auto back = changed(seteuid(account.uid) == 0, account); !back) return back;
    return done;
}

Result<void> keep_account(const QuickstartAccount& account) {
    return changed(setresuid(account.uid, account.uid, account.uid) == 0, account);
}

}  // namespace zbs::cli
