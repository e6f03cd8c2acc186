#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/rng.hpp"
#include "algorithms/elmer/virtual_clusters.hpp"
#include "studies/models/exit_codes.hpp"

namespace zbs::elmer {

/// What a user submits.
struct JobRequest {
    std::int32_t processors = 1;
    std::int32_t user = -1;  ///< >= 0
    std::string command;
    bool operator==(const JobRequest&) const = default;
};
struct QueuedJob {
    JobId job;
    JobRequest request;
    bool operator==(const QueuedJob&) const = default;
};
/// A job to be started now: its child process has to end with `exit_status`, and every host has to be notified.
struct Start {
    Cluster cluster;
    std::string command;
    std::int32_t exit_status = 0;
    bool operator==(const Start&) const = default;
};
/// A job that has left; every host has to be notified.
struct Exit {
    std::optional<Cluster> ended;  ///< none: the status was that of a helper process
    std::vector<Start> starts;     ///< jobs that got what became free
};

/// The queue and the hosts of Elmer as a pure state machine [Turner1995, chapter 6]: submit, cancel, kill, query, and
/// the exit of a child process. What has to be done outside is in the results; clocks, hosts and processes are the
/// caller's.
///
/// First come, first served: a job starts only when nobody waits before it and its allocation succeeds, so a head
/// without hosts blocks all behind it. Numbers J count submissions from 1.
///
/// `utilization` is what the hosts reported last, see VirtualClusters::allocate.
class JobService {
  public:
    struct Options {
        VirtualClusters::Options clusters;
        std::int32_t most_running = ExitCodes::kMaxSlots;  ///< N, a prime <= ExitCodes::kMaxSlots
        std::uint64_t seed = 1;                            ///< of the choice of hosts
    };
    /// Errors, kInvalidArgument: an option out of its range.
    static Result<JobService> make(const Options& options);

    struct Submitted {
        JobId job;
        std::vector<Start> starts;  ///< that job's, or none: it waits
    };
    /// Error kInvalidArgument: no processors or more than there are hosts, no user.
    Result<Submitted> submit(const JobRequest& request, std::span<const double> utilization);
    /// Takes a job out of the queue; no host hears of it. Was it the head, `start_waiting` may start others. Error
    /// kNotFound: it does not wait.
    Result<void> cancel(JobId job);
    /// The hosts that have to kill the job's processes. It leaves when its child exits, as any other job. Error
    /// kNotFound: it does not run.
    Result<std::vector<std::int32_t>> kill(JobId job) const;
    /// A child of this status has ended. Statuses that stand for no running job are ignored, as those of helpers (0 and
    /// 1) are. Starts as many jobs as now can; the source tries one.
    Exit child_exited(std::int32_t status, std::span<const double> utilization);

    /// Starts the jobs at the head of the queue that can. To be called when new readings have come: hosts that were
    /// loaded may have become idle without any exit.
    std::vector<Start> start_waiting(std::span<const double> utilization);

    /// In the order of their starts, and of their arrivals.
    std::span<const Cluster> running() const { return running_; }
    const std::deque<QueuedJob>& waiting() const { return waiting_; }
    const VirtualClusters& clusters() const { return clusters_; }

  private:
    JobService(const Options& options, VirtualClusters clusters);
    VirtualClusters clusters_;
    ExitCodes codes_;
    Rng rng_;
    std::int64_t last_job_ = 0;
    std::deque<QueuedJob> waiting_;
    std::vector<Cluster> running_;
};

}  // namespace zbs::elmer
