#pragma once
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/process/step_executor.hpp"

namespace zbs::process {

/// What this host lets an executor do about its jobs, found by trying it.
struct HostAbilities {
    bool is_root = false;
    std::string user;              ///< that this service runs as
    std::string namespaces_fault;  ///< why jobs have no namespaces; empty where they have
};

/// Absolute, existing, without links; for the folders of `options` and those that every job is kept from: the folder of
/// the steps, the session of this user's other programs.
Result<std::vector<std::string>> find_hidden_folders(const StepExecutorOptions& options);
/// Whether all of them could be kept from jobs. Errors: one is not there, is no folder, or is named by a relative path.
Result<void> check_hidden_folders(const std::vector<std::string>& paths);
/// What jobs of this user must not write though it may: this service's programs, control groups.
Result<std::vector<std::string>> find_read_only_folders(const StepExecutorOptions& options);

/// The weakest protection of any job that an executor with `options` runs, in words for its operator.
Protection describe_protection(const StepExecutorOptions& options, const HostAbilities& host);

}  // namespace zbs::process
