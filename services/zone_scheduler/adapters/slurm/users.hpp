#pragma once
#include <sys/types.h>

#include <string>

#include "algorithms/base/result.hpp"

namespace zbs::slurm {

struct User {
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
};

/// The user of this host called so; empty = who runs this service. Errors: kRejected where there is none.
Result<User> find_user(const std::string& name);

}  // namespace zbs::slurm
