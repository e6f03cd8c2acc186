#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/rng.hpp"
#include "algorithms/model/workload.hpp"

namespace zbs {

/// What the tasks of a job do besides computing [DaSilva2000, sections 6.4 and 8.5].
enum class JobKind : std::uint8_t {
    kCompute,   ///< nothing: embarrassingly parallel
    kIo,        ///< they use the disk of their node between bursts of computing
    kMessages,  ///< they send to and receive from each other; sends do not wait, receives do
    kBarriers,  ///< they wait for each other in supersteps
};
std::ostream& operator<<(std::ostream& out, JobKind kind);

/// One step of a task.
struct TaskStep {
    enum class Kind : std::uint8_t { kCompute, kIo, kSend, kReceive, kBarrier, kEnd };
    Kind kind = Kind::kEnd;
    std::int32_t peer = -1;  ///< of a send or receive: index of the other task within the job
    Duration time{};         ///< of computing or I/O, on a machine of its own
    bool operator==(const TaskStep&) const = default;
};

/// A parallel job, one task a processor, with all it will ever do.
struct GangJob {
    JobId id;
    Time arrival{};
    std::int32_t processors = 1;  ///< tasks
    std::int64_t memory = 0;      ///< of every task, in any one unit
    JobKind kind = JobKind::kCompute;
    Duration work{};         ///< computing and I/O of every task, > 0
    std::uint64_t seed = 0;  ///< of its bursts
    /// Written out instead of drawn: the steps of every task (kEnd is implied). `kind` and `work` are then not looked
    /// at. Messages between two tasks arrive in the order in which they are sent.
    std::shared_ptr<const std::vector<std::vector<TaskStep>>> script;
};

/// Means and shape of the bursts; the published experiments give means only.
struct BurstOptions {
    enum class Shape : std::uint8_t { kExponential, kUniform, kConstant };  ///< kUniform: 0 .. twice the mean
    Duration io = std::chrono::milliseconds{100};
    Duration compute_between_io = std::chrono::milliseconds{100};
    Duration between_messages = std::chrono::milliseconds{10};
    /// Of a superstep, the same for all tasks of a job: barrier to barrier.
    Duration between_barriers = std::chrono::milliseconds{50};
    Shape shape = Shape::kExponential;
};

/// Jobs in the order of arrival. The same value is run under every scheduler: what a task does depends on nothing else.
struct GangWorkload {
    std::int32_t processors = 1;
    BurstOptions bursts;
    std::vector<GangJob> jobs;
};

/// Makes every job of `source` a gang of one of `kinds`, drawn uniformly; its run time is the work of every task. A job
/// of one task has nobody to talk to and computes. Errors, kInvalidArgument: no kinds; a burst mean below 1 us.
Result<GangWorkload> make_gang_workload(const Workload& source, std::span<const JobKind> kinds,
                                        const BurstOptions& bursts, std::uint64_t seed);

/// The steps of one task, in order: a pure function of workload, job and task.
///
/// kIo: computing and I/O in turn until the work is done, the last burst cut. kBarriers: supersteps likewise, equally
/// long for all tasks. kMessages: round(work / mean) rounds of computing, at the end of each of which all tasks that
/// the round pairs exchange one message; pairs are (i, c - i mod n) with c uniform, so that every pair is as likely.
class TaskProgram {
  public:
    TaskProgram(const BurstOptions& bursts, const GangJob& job, std::int32_t task);
    TaskStep next();

  private:
    Duration draw(Duration mean, Rng& rng) const;
    TaskStep next_io();
    TaskStep next_message();
    TaskStep next_barrier();

    const BurstOptions* bursts_;
    const GangJob* job_;
    std::int32_t task_;
    Rng rng_;
    Duration left_;
    std::int64_t round_ = 0;
    std::int64_t rounds_ = 0;
    bool computed_ = false;  ///< the computing of this round has been handed out
};

}  // namespace zbs
