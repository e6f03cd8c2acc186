#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/ports/machine_use.hpp"
#include "services/common/ports/steps/step_runner.hpp"

namespace zbs {

/// Processors that the site's own scheduler is asked for.
struct AllocationSpec {
    struct Share {
        MachineName machine;
        int processors = 0;
        bool operator==(const Share&) const = default;
    };
    std::string operation;      ///< names it there, over retries and restarts: [A-Za-z0-9-]{1,64}
    AccountName account;        ///< local account whose it is; empty = the one that this service runs as
    std::vector<Share> shares;  ///< at least one, each machine once
    Duration walltime{};        ///< it ends this long after its start at the latest
    Duration expiry{};          ///< it ends by itself this long after its start unless it is kept
    std::optional<Time> start;  ///< none = now
};

/// What of a step runs where in an allocation.
struct AllocatedTasks {
    std::vector<MachineName> machines;  ///< of each task, at least one
    std::string pmi{};     ///< by which the tasks are ranks of one MPI job: "pmi2", "pmix"; empty: they know nothing
    std::string folder{};  ///< for files out.N and err.N of task N, seen on the machines; empty: they are the step's
    bool may_share_processors = false;
};

struct AllocationKey {
    std::string operation;
    AccountName account;  ///< as in its spec
    auto operator<=>(const AllocationKey&) const = default;
};

/// An allocation as the site's scheduler has it.
struct AllocationView {
    enum class Phase {
        kUnknown,   ///< never heard of, or ended long ago
        kQueued,    ///< nothing stands behind it: it only waits
        kPromised,  ///< for a later start
        kHeld,      ///< ours now
        kEnding,    ///< what runs in it is being ended
        kEnded,     ///< nothing of it runs any more
    };
    Phase phase = Phase::kUnknown;
    std::string reason;  ///< of its end, where nobody here asked for it; begins with kWalltimeReason where that was it
};

/// Where a zone does not own its machines but shares them with others through another scheduler (Slurm): that one is
/// asked for the processors of each part. Everything is asked from the domain's strand and answered on it, once. What
/// is asked of one operation is done in the order of the questions; the others overtake.
class Allocations {
  public:
    virtual ~Allocations() = default;
    using Done = std::function<void(Result<void>)>;

    /// The processors are ours from the answer on, or promised for the start. A known operation is not asked for twice.
    /// Errors: kRejected where they cannot be had (nothing is left behind); others: it is not known whether there is
    /// one, so release it.
    virtual void hold(AllocationSpec spec, Done done) = 0;
    /// Takes the expiry away. Errors: kNotFound, kConflict where it is over; others: try again.
    virtual void keep(AllocationKey key, Done done) = 0;
    /// Ends it and all that runs in it; `look` reports when that is done. An unknown one is no error.
    virtual void release(AllocationKey key, Done done) = 0;
    virtual void look(AllocationKey key, std::function<void(Result<AllocationView>)> done) = 0;
    /// The step for a local Executor that runs `step` on machines of an allocation that `hold` or `look` has reported
    /// as held. Errors: kConflict where none did.
    virtual Result<StepSpec> step_in(const AllocationKey& key, const AllocatedTasks& tasks, StepSpec step) = 0;

    virtual void machines(std::function<void(Result<std::vector<MachineUse>>)> done) = 0;
};

}  // namespace zbs
