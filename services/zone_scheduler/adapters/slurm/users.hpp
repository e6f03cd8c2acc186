#pragma once
#include <sys/types.h>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs::slurm {

struct User {
    AccountName name;
    uid_t uid = 0;
    gid_t gid = 0;
};

/// The user of this host called so; empty = who runs this service. Errors: kRejected where there is none.
Result<User> find_user(const AccountName& name);

}  // namespace zbs::slurm
