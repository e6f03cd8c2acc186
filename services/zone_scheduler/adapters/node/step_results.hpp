#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/ports/steps/step_files.hpp"
#include "services/common/ports/steps/step_runner.hpp"

namespace zbs::node {

/// What is kept here of steps that ran elsewhere and have ended: how, and some of their files. A folder for each.
/// Ids of steps and names of files are words without slashes; anything else is not found.
class StepResults {
  public:
    /// Of the disk: so much is left free.
    struct Reserve {
        std::uint64_t bytes = 0;
        unsigned percent = 0;  ///< of all of it, where that is more
    };
    /// Writes a file, or a folder's entries, out to the disk; false where that cannot be done.
    using MakeDurable = std::function<bool(const std::string& path)>;
    static bool make_durable(const std::string& path);

    StepResults(std::string folder, const Reserve& reserve, MakeDurable durable = make_durable)
        : folder_(std::move(folder)), reserve_(reserve), durable_(std::move(durable)) {}

    /// Whether so many bytes more leave what is to be left free. A disk that cannot be looked at has none.
    bool has_space(std::uint64_t bytes) const;
    /// Adds to a file; the disk begins to write it. Errors: kUnavailable.
    Result<void> append(const StepId& step_id, const std::string& file, std::string_view bytes);
    /// Says that a file has come whole: it is durable then. Waits for the disk: of what was added, some 32 MiB at most
    /// are not written yet. Errors: kUnavailable.
    Result<void> keep(const StepId& step_id, const std::string& file, bool executable);
    /// Written last, and durable: with it the step has ended. Precondition: it has. Errors: kUnavailable.
    Result<void> finish(const StepId& step_id, const StepStatus& end);
    /// Lists a file that cannot be read here, with its reason. Errors: kUnavailable.
    Result<void> leave_out(const StepId& step_id, const StepFiles::File& file);
    /// Forgets a file.
    void drop(const StepId& step_id, const std::string& file);
    /// Of what was fetched before in vain.
    void clear(const StepId& step_id);

    bool has(const StepId& step_id) const;
    /// None where it has not been finished.
    std::optional<StepStatus> end_of(const StepId& step_id) const;
    Result<std::string> read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                             std::size_t limit) const;
    std::vector<StepFiles::File> list(const StepId& step_id, const std::string& prefix) const;
    Result<StepFiles::Removal> remove(const StepId& step_id, std::size_t at_most);

  private:
    std::string path(const StepId& step_id) const { return folder_ + "/" + step_id; }
    std::string folder_;
    Reserve reserve_;
    MakeDurable durable_;
};

}  // namespace zbs::node
