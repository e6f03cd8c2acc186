#pragma once
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs::process {

/// A local account that jobs may run as.
struct Account {
    AccountName name;
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;  ///< all of them, `gid` among them
};

/// The account called `name`, as the system knows it now. Refused: unknown names, uid 0, uids below `minimum_uid`,
/// members of group 0. A locked or expired account is not noticed: PAM is not asked.
Result<Account> find_account(const AccountName& name, uid_t minimum_uid);

/// For a command that only looks at what a service could do: where `folder` is of another account than this process,
/// that is the service's, and root goes on as that account, with its groups and without any capability, for good. Says
/// as whom it looks where that is not plain, also where root may not go on so; empty where the folder is the caller's
/// own, or is not there. Before other threads are there.
std::string check_as_owner(const std::string& folder);

/// HOME, USER, LOGNAME and SHELL of the user `uid`, as the system knows them now. One that it does not know has its
/// number as name, and / as home.
std::vector<std::pair<std::string, std::string>> login_environment(uid_t uid);

/// Name of the user `uid`, or its number where it has none.
std::string user_name(uid_t uid);

}  // namespace zbs::process
