#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/model/job.hpp"

namespace zbs::gang {

/// How long a job may be kept waiting at most.
enum class PatienceClass : std::uint8_t { kInteractive, kDebug, kBatch };

struct LazyJob {
    JobId id;
    std::int32_t processors = 1;
    std::int64_t memory = 0;  ///< of the whole job, in any one unit
    std::int32_t priority = 0;
    PatienceClass patience = PatienceClass::kBatch;
    Time since{};  ///< when it began to wait, or to run
};
struct LazyOptions {
    std::array<Duration, 3> patience{std::chrono::seconds{10}, std::chrono::minutes{5},
                                     std::chrono::hours{1}};  ///< by PatienceClass
    /// A job that got its processors cannot lose them for this long per unit of memory: swapping it costs that much.
    Duration undisturbed_per_memory{};
};
/// Preemptions come first. Both in the order in which they were decided.
struct LazyPlan {
    std::vector<JobId> preemptions;
    std::vector<JobId> starts;
    /// When the next waiting job runs out of patience or the next running one can be preempted; Time::max() if never.
    Time wake_at = Time::max();
    bool operator==(const LazyPlan&) const = default;
};

/// Lazy gang scheduling [DaSilva2000, section 3.3]: jobs run where processors are free and switch only when somebody
/// has waited too long. Waiting jobs come by the time they are over their patience, the longest first; then the others
/// by priority, then by how long they wait. An overdue job that does not fit preempts running jobs whose undisturbed
/// time is over, lowest priority first (then the longest running), none that are not needed; jobs that have patience
/// never preempt, nor pass an overdue job that is short of processors.
/// Precondition: running jobs fit together into `processors`, every waiting one alone.
LazyPlan plan_lazy_gang(Time now, std::int32_t processors, std::span<const LazyJob> running,
                        std::span<const LazyJob> waiting, const LazyOptions& options);

}  // namespace zbs::gang
