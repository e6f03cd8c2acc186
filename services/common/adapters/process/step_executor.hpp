#pragma once
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/common/messages/limits.hpp"
#include "services/common/ports/executor.hpp"

namespace zbs::process {

struct StepExecutorOptions {
    std::string folder;      ///< absolute; one sub-folder per step is made in it; no job sees another step's
    std::string supervisor;  ///< path of the program `zbs-step`
    /// Socket of `zbs-step serve`, which makes the supervisors where this service is confined more tightly than jobs
    /// may be; empty: they are children of this process. Of the same user, and its programs are those beside
    /// `supervisor`.
    std::string starter;

    /// Folders that no job may see, absolute: the service's state (database, keys) and configuration. They have to be
    /// there. Only folders: a single file would show again as soon as it is replaced.
    std::vector<std::string> hidden_paths;
    /// Folders that no job may write. The one of `supervisor` is among them without being named.
    std::vector<std::string> read_only_paths;

    /// Jobs reach their folders from other hosts, by path: whoever knows the names may pass the folders above. What is
    /// in those stays this service's, and each job's folder its account's.
    bool passable = false;

    AccountName default_account;  ///< of jobs without an account; needs root
    bool allow_root_jobs = true;  ///< as root without a default account: run jobs without one as root, else refuse them
    uid_t minimum_uid = 1'000;    ///< smallest uid of an account that jobs may run as
    bool require_isolation = false;  ///< make no executor whose jobs could read what is hidden

    /// Whether processes of different steps on this host may share memory, as MPI does between two zones on one host
    /// and between two parts of a job on one machine. Process namespaces forbid it, and so do user namespaces: with it
    /// jobs have none of the former, and without root no isolation. Not set: as root yes, else no.
    std::optional<bool> shared_memory;

    unsigned max_open_files = limits::kMaxJobOpenFiles;  ///< of one process of a job
    unsigned max_processes = 0;  ///< of one account, all its jobs together; 0 = as the system has it
};

/// What keeps a job from the service that runs it.
enum class Isolation {
    kAccounts,   ///< another user of the host, that of the job's owner
    kNamespace,  ///< the service's own user, in user, mount, process and IPC namespaces
    kNone,       ///< nothing: the job can read the service's keys
};

/// The weakest protection of any job of this executor, and what it means, as one line for the operator.
struct Protection {
    Isolation isolation = Isolation::kNone;
    std::string text;
};

/// Runs everything on this host, where all files are.
class StepExecutor : public Executor {
  public:
    void place(const StepId&, const MachineName&) override {}
    Result<bool> stage_inputs(const Need&) override { return true; }
    void end_staging(const std::string&) override {}
    void request_results(const StepId&, Wanted) override {}
    void share_output(const std::vector<StepId>&) override {}

    virtual const Protection& protection() const = 0;
};

/// Whether the program `zbs-step` can be run from `path`, which the setting `step_supervisor` says at `place`. Errors:
/// kUnavailable with the reason and the remedy.
Result<void> check_supervisor(const std::string& path, const std::string& place = {});

/// Where the settings stand that `check_step_settings` looks at: file and line.
struct StepSettingPlaces {
    std::string hidden_paths, default_account, step_starter;
};
/// Whether an executor would be made with these hidden paths, default account and starter, the other options among them
/// as they are; `folder` and `supervisor` are not looked at. Makes nothing. Errors: those of `make_step_executor`, at
/// the place of the setting. Waits for a starter for kStarterPatienceS at most.
Result<void> check_step_settings(const StepExecutorOptions& options, const StepSettingPlaces& places);

/// Executor of process trees on this host. Each step gets a supervisor (`zbs-step`) in its own session, which outlives
/// this service, ends the tree at its walltime or when asked, and leaves the exit code in a file; this class only
/// starts it and reads what it left. A supervisor that was killed is noticed by `status`, which then kills what it left
/// behind. What a job can do nevertheless is in services/node_agent/README.md. What this host offers is tried here,
/// once; a step that cannot have it later is refused, never run with less. Errors at construction: the folder cannot be
/// made, the supervisor is missing or its starter out of reach, a folder to hide is missing or a file, the default
/// account is refused, or isolation is required and not to be had.
Result<std::unique_ptr<StepExecutor>> make_step_executor(StepExecutorOptions options);

}  // namespace zbs::process
