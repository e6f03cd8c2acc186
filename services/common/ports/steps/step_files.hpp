#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/names/name_types.hpp"

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

}  // namespace zbs
