#pragma once
#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/process/account.hpp"
#include "services/common/ports/steps/step_runner.hpp"

namespace zbs::process {

struct CopyOptions {
    std::optional<Account> owner;            ///< whom the copies belong to; none: this process's user
    const std::atomic<bool>* cut = nullptr;  ///< true ends the copying between two pieces; null: never
    bool durable = false;                    ///< each copy is on the disk before it has its name
};

/// Copies inputs into the folder of a step that has not begun: no job can write there yet, and the names are free or
/// ours. Each has its name once it is whole; one that is whole already, by its size, stays as it is. File systems that
/// share blocks copy nothing; others about a GiB a second, and what is durable as fast as the disk writes. Errors:
/// kRejected where the disk is full; kUnavailable; kInvalidArgument.
Result<void> copy_inputs(const std::vector<StepSpec::Input>& inputs, const std::string& folder,
                         const CopyOptions& options);

/// Steps whose inputs are being copied, each on a thread of its own, and those that share a folder with such a step.
class InputCopies {
  public:
    /// Copies of so many bytes and more are worth a thread.
    static constexpr std::uint64_t kWorthAThread = 8 << 20;

    ~InputCopies();
    /// Whether a step with this specification has to wait: for large inputs of its own, or for those of a step whose
    /// folder it shares.
    bool has_to_wait(const StepSpec& spec) const;
    /// Begins to copy what is not there yet, durably, and keeps the specification.
    void begin(const StepSpec& spec, const std::string& folder, const std::optional<Account>& owner);
    bool waits(const StepId& step_id) const { return waiting_.contains(step_id); }
    /// Copying ends as soon as it can; the step waits until it has.
    void cut(const StepId& step_id);
    class Sources;
    struct Done {
        StepSpec spec;
        Result<void> copied;
    };
    /// Once: the step whose inputs are there, or cannot be. None while they are being copied, and while a step whose
    /// folder it shares was not taken.
    std::optional<Done> take(const StepId& step_id);

  private:
    using Copy = std::shared_future<Result<void>>;
    struct Waiting {
        StepSpec spec;
        std::shared_ptr<std::atomic<bool>> cut;
        std::vector<Copy> copies;  ///< its own, and those of steps whose folders it shares
    };
    std::map<StepId, Waiting> waiting_;
};

/// All of a specification as a text that this host reads again.
std::string encode_waiting(const StepSpec& spec);
/// Nothing where `text` was not made by `encode_waiting`.
std::optional<StepSpec> decode_waiting(std::string_view text);

/// Keeps a step that waits for its inputs in `control`, the supervisor's folder of it, over restarts of the service,
/// and its inputs by links where the file system has them: who makes room meanwhile takes other names of them only.
/// Then their paths in `spec` are those of the links. Errors: kUnavailable, nothing kept.
Result<void> keep_waiting(const std::string& control, StepSpec& spec);
/// What is kept there; nothing where no step waits, or what is there cannot be read.
std::optional<StepSpec> find_waiting(const std::string& control);
/// Once the step is launched, or never will be.
void forget_waiting(const std::string& control);

}  // namespace zbs::process
