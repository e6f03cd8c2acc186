#include "services/zone_scheduler/adapters/slurm/users.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>

#include "services/common/messages/text/printable.hpp"

namespace zbs::slurm {

Result<User> find_user(const AccountName& name) {
    std::array<char, 16 * 1024> buffer;
    passwd entry{};
    passwd* found = nullptr;
    const int fault = name.empty() ? getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found)
                                   : getpwnam_r(name.str().c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (fault == 0 && found != nullptr) return User{AccountName(entry.pw_name), entry.pw_uid, entry.pw_gid};
    return Error{ErrorCode::kRejected,
                 name.empty()
                     ? "user " + std::to_string(geteuid()) + ", who runs this service, has no name on this host"
                     : "this host has no user '" + printable_text(name, 64) +
                           "': map the job to one that it and the cluster have",
                 {}};
}

}  // namespace zbs::slurm
