#pragma once
#include <sys/types.h>

#include <functional>
#include <string>

#include "algorithms/base/result.hpp"

namespace zbs::cli {

/// The account that the services of a quickstart and the jobs of all its zones run as.
struct QuickstartAccount {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name;
    bool owns_credentials = true;  ///< else they belong to root, who started the command and will use them
};

/// The account `wanted`. If that is empty, the caller's own; for root the account that called sudo, or 'nobody'.
/// Errors: kInvalidArgument for an unknown account, and for an account other than the caller's own if the caller is not
/// root.
Result<QuickstartAccount> choose_account(const std::string& wanted);

/// The process goes on as `account`; `keep_account` makes that final. Until then root's rights are kept aside for
/// `with_own_rights`. Children have the rights of `account` alone.
Result<void> change_to(const QuickstartAccount& account);
/// `act` with the rights with which the command was started.
Result<void> with_own_rights(const QuickstartAccount& account, const std::function<Result<void>()>& act);
Result<void> keep_account(const QuickstartAccount& account);

}  // namespace zbs::cli
