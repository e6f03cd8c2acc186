#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

/// So begins the reason of a step that ended before its program began, for a fault that is not the program's.
inline constexpr std::string_view kStepNotStarted = "it could not be started: ";

/// Runs process trees that outlive this service: after a restart every step is found again by its id.
class Executor {
  public:
    virtual ~Executor() = default;

    /// The step is for this machine of the zone, not for this host; said before anything else of it, and again after a
    /// restart. Where there is only this host it means nothing.
    virtual void place(const StepId& /*step_id*/, const MachineName& /*machine*/) {}
    struct Need {
        std::string who;      ///< in whose name, as the id of a part
        MachineName machine;  ///< of the zone
        std::vector<StepSpec::Input> inputs;
    };
    /// Has what a step will need brought to a machine of the zone, and is asked again until all of it is there. True:
    /// it is; false: it is on its way. Where there is only this host it is there. Errors: why it cannot be brought;
    /// asked again after one, it is tried anew.
    virtual Result<bool> stage_inputs(const Need& /*need*/) { return true; }
    /// In this name nothing needs to be brought any more: what is on its way for nobody else stops.
    virtual void end_staging(const std::string& /*who*/) {}
    /// What is still free for files of several steps together.
    struct Room {
        std::uint64_t bytes = 0;
        std::size_t files = 0;
    };
    struct File {
        std::string name;
        std::uint64_t bytes = 0;
        std::string fault{};  ///< why it cannot be read here, for people; empty where it can
        bool is_folder = false;
        bool executable = false;  ///< for its owner
    };
    /// Files of a step's folder that are to be read after its end, beside what it writes itself.
    struct Wanted {
        std::function<bool(const File& file)> asks_for;
        std::uint64_t file_bytes = 0;  ///< larger ones are only listed
        std::shared_ptr<Room> room;    ///< one for all steps that share it; what does not fit is only listed
    };
    /// Said before the start, and again after a restart: what is here of the step already takes room. Where there is
    /// only this host all files are there.
    virtual void request_results(const StepId& /*step_id*/, Wanted /*wanted*/) {}
    /// Says that these steps have one bound for what their ranks print, where that is fetched from other hosts. Said
    /// after they are placed and before they start, and again after a restart.
    virtual void share_output(const std::vector<StepId>& /*step_ids*/) {}
    /// Starts the step; answers once the program is executing, or why it cannot be. A known step starts nothing
    /// twice. An account that jobs may not run as: kRejected.
    virtual Result<void> start(const StepSpec& spec) = 0;
    virtual StepStatus status(const StepId& step_id) = 0;
    /// Asks the tree to end, with one SIGTERM to each process; whatever is left after `grace` is killed. Asked again,
    /// no process gets a second signal, and the kill can only come earlier. Returns at once. A step that is not known
    /// never begins after it, even if its start is under way and late.
    virtual void stop(const StepId& step_id, Duration grace) = 0;
    /// The step's own folder (absolute): where its output files are. Exists from before the program starts, for the job
    /// under the same path.
    virtual std::string folder(const StepId& step_id) = 0;
    /// Bytes [offset, offset + limit) of a file in the step's folder, fewer at its end. Not found, or no plain file of
    /// the job's own: kNotFound.
    virtual Result<std::string> read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                                     std::size_t limit) = 0;
    /// Files in the step's folder whose names start with `prefix`, by name.
    virtual std::vector<File> list(const StepId& step_id, const std::string& prefix) = 0;
    /// All that is in the step's folder and its folders, by name: also folders, links and whatever cannot be read, each
    /// with its fault. A name that is not UTF-8, or has control characters, is written with `printable_text`. The name
    /// `*`, at the top or in a folder, with a fault stands for files that could not be listed, as behind a link.
    virtual std::vector<File> list_all(const StepId& step_id) = 0;
    /// Removes these files of the step's folder; what is not there, or is none, is left. Errors: kUnavailable, naming
    /// the first that cannot be removed, after all others were.
    virtual Result<void> remove_files(const StepId& step_id, const std::vector<std::string>& names) = 0;
    struct Removal {
        std::size_t files = 0;  ///< and folders that went now
        bool complete = false;  ///< nothing of the step is left; also where there is no such step
    };
    /// Removes a step that has ended, with its folder, at most so many files at a time. Errors: kConflict while it
    /// runs; kUnavailable where something cannot be removed.
    virtual Result<Removal> remove(const StepId& step_id, std::size_t at_most) = 0;
};

}  // namespace zbs
