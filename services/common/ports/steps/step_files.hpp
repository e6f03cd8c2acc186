#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/ports/steps/step_runner.hpp"

namespace zbs {

/// Files in the folders of steps, during and after their runs.
class StepFiles {
  public:
    virtual ~StepFiles() = default;

    struct File {
        std::string name;
        std::uint64_t bytes = 0;
        std::string fault{};  ///< why it cannot be read here, for people; empty where it can
        bool is_folder = false;
        bool executable = false;  ///< for its owner
    };
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

/// Files on their way between this host and the machines of the zone that have agents. Where there is only this host,
/// all files are there and nothing is fetched.
class MachineFiles {
  public:
    virtual ~MachineFiles() = default;

    /// The step is for this machine of the zone, not for this host; called before anything else of it, and again after
    /// a restart.
    virtual void place(const StepId& step_id, const MachineName& machine) = 0;
    struct Need {
        std::string who;      ///< in whose name, as the id of a part
        MachineName machine;  ///< of the zone
        std::vector<StepSpec::Input> inputs;
    };
    /// Has what a step will need brought to a machine of the zone, and is asked again until all of it is there. True:
    /// it is; false: it is on its way. Errors: why it cannot be brought; asked again after one, it is tried anew.
    virtual Result<bool> stage_inputs(const Need& need) = 0;
    /// In this name nothing needs to be brought any more: what is on its way for nobody else stops.
    virtual void end_staging(const std::string& who) = 0;
    /// What is still free for files of several steps together.
    struct Room {
        std::uint64_t bytes = 0;
        std::size_t files = 0;
    };
    /// Files of a step's folder that are to be read after its end, beside what it writes itself.
    struct Wanted {
        std::function<bool(const StepFiles::File& file)> asks_for;
        std::uint64_t file_bytes = 0;  ///< larger ones are only listed
        std::shared_ptr<Room> room;    ///< one for all steps that share it; what does not fit is only listed
    };
    /// Called before the start, and again after a restart: what is here of the step already takes room.
    virtual void request_results(const StepId& step_id, Wanted wanted) = 0;
    /// These steps share one bound for what their ranks print, where that is fetched from other hosts. Called
    /// after they are placed and before they start, and again after a restart.
    virtual void share_output(const std::vector<StepId>& step_ids) = 0;
};

}  // namespace zbs
