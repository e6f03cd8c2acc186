#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/messages/steps/step_work.hpp"

namespace zbs {

/// One process tree to run.
struct StepSpec {
    StepId step_id;
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>>
        environment;        ///< all of it but PATH, where missing; nothing is inherited
    std::string directory;  ///< working directory, entered with the job's rights; empty = the step's own folder
    std::vector<std::pair<std::string, std::string>> files;  ///< name and text, laid into the step's folder first
    struct Input {
        std::string name;
        std::string path;         ///< on the executor's host, absolute
        bool executable = false;  ///< for its owner; nobody else may anything
        std::string digest{};     ///< SHA-256 of it, 64 hexadecimal digits: what a machine elsewhere knows it by
        std::uint64_t size = 0;   ///< bytes
        bool operator==(const Input&) const = default;
    };
    std::vector<Input> inputs;  ///< copied into the step's folder first, for the job's account
    /// Local account that the tree runs as; empty = what the executor has for jobs without one.
    AccountName account;
    /// Steps started before, of the same job, whose folders this step may write too.
    std::vector<StepId> shares;
    Duration walltime{};  ///< the tree is ended after this long; 0 = no limit
    Duration grace{};     ///< from the signal at the walltime to the kill
    /// argv launches the job's programs, and would end them at once if it got a signal: a stop signals only them.
    bool is_launcher = false;
    /// Run once at a stop, in place of the signals, with the rights of the local executor: argv runs its programs on
    /// other hosts, and would end them at once if it got a signal. It gets SIGTERM after the grace. Local executors
    /// only; never taken from a message.
    std::vector<std::string> on_stop{};
    /// argv is MPICH's launcher: it starts no rank before so many proxies have connected. 0: none is awaited. Local
    /// executors only; never taken from a message.
    std::size_t proxies = 0;
    /// What its folder may take of the disk, beside what a step writes itself (`is_own_output`); the tree is ended when
    /// it is more. Looked at about once a second. 0 = no limit.
    std::uint64_t folder_bytes = 0;
};

struct StepStatus {
    enum class State { kUnknown, kRunning, kExited };
    State state = State::kUnknown;
    int exit_code = 0;           ///< once exited; 128 + n where signal n ended it
    std::string reason;          ///< where it did not end by itself: walltime, supervisor lost, ...
    bool is_site_fault = false;  ///< the machine's or its agent's, not that of what ran
    enum class Proxies { kNone, kAwaited, kConnected };
    Proxies proxies = Proxies::kNone;  ///< of a launcher that awaits them; no rank has begun before `kConnected`
    std::optional<StepWork> work{};    ///< while it runs on a machine whose agent measures it
};

constexpr auto words_of(StepStatus::State) { return std::array{"unknown", "running", "exited"}; }
constexpr auto words_of(StepStatus::Proxies) { return std::array{"none", "awaited", "connected"}; }

/// So begins the reason of a step that ended before its program began, for a fault that is not the program's.
inline constexpr std::string_view kStepNotStarted = "it could not be started: ";

/// Runs process trees that outlive this service: after a restart every step is found again by its id.
class StepRunner {
  public:
    virtual ~StepRunner() = default;

    /// Starts the step; answers once the program is executing, or why it cannot be. A known step starts nothing
    /// twice. An account that jobs may not run as: kRejected.
    virtual Result<void> start(const StepSpec& spec) = 0;
    virtual StepStatus status(const StepId& step_id) = 0;
    /// Asks the tree to end, with one SIGTERM to each process; whatever is left after `grace` is killed. Asked again,
    /// no process gets a second signal, and the kill can only come earlier. Returns at once. A step that is not known
    /// never begins after it, even if its start is under way and late.
    virtual void stop(const StepId& step_id, Duration grace) = 0;
};

}  // namespace zbs
