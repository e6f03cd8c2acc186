#pragma once
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::cli {

/// A federation on this machine: one registry, and zones of one organisation each ("org-" and the zone's name), with
/// their own keys and bundles. `ports[0]` is the registry's, then one for each zone.
struct FederationPlan {
    std::string folder;    ///< keys, configurations and state
    std::string programs;  ///< where zbs-zone and zbs-registry lie
    std::vector<std::string> zones;
    std::vector<int> ports;
    int processors = 4;               ///< of each zone but those in front of Slurm
    std::string slurm_zone;           ///< the one whose machines are the nodes of a Slurm; empty = none
    std::string slurm_configuration;  ///< its slurm.conf
};

/// Keys for all (once), configurations (anew): everybody accepts everybody, by bundle. Errors: the programs' own.
Result<void> prepare_federation(const FederationPlan& plan);
std::vector<std::string> registry_command(const FederationPlan& plan);
std::vector<std::string> zone_command(const FederationPlan& plan, const std::string& zone);
/// Where it can be called, e.g. by a browser.
std::string zone_url(const FederationPlan& plan, std::size_t index);
/// Tokens from the running registry, one for each zone that has not enrolled yet.
Result<void> enrol_zones(const FederationPlan& plan);
/// Runs its argument with the rights of the user who will use the credentials.
using AsOwner = std::function<Result<void>(const std::function<Result<void>()>&)>;
/// User "you" of the first zone's organisation, with a certificate in `credentials`. Good as it is where there is one.
Result<void> log_in(const FederationPlan& plan, const std::string& credentials, const AsOwner& as_owner);
/// Whether every other zone accepts the first one.
Result<void> check_met(const FederationPlan& plan, const std::string& credentials);

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
