#include "studies/models/job_service.hpp"

#include <algorithm>

#include "algorithms/base/expects.hpp"

namespace zbs::elmer {
namespace {

Error unknown(JobId job, const char* where) {
    return {ErrorCode::kNotFound, "job " + std::to_string(job.value) + " " + where, {}};
}

}  // namespace

JobService::JobService(const Options& options, VirtualClusters clusters)
    : clusters_(std::move(clusters)), codes_(options.most_running), rng_(options.seed) {}

Result<JobService> JobService::make(const Options& options) {
    Result<VirtualClusters> clusters = VirtualClusters::make(options.clusters);
    if (!clusters) return clusters.error();
    if (!ExitCodes::serves(options.most_running))
        return invalid("the number of jobs that run at once must be a prime up to " +
                       std::to_string(ExitCodes::kMaxSlots) + ", not " + std::to_string(options.most_running) +
                       ": exit statuses identify them by the remainder");
    return JobService(options, *std::move(clusters));
}

Result<JobService::Submitted> JobService::submit(const JobRequest& request, std::span<const double> utilization) {
    if (request.processors < 1 || request.processors > clusters_.options().hosts)
        return invalid("a job runs on 1 to " + std::to_string(clusters_.options().hosts) + " hosts, not on " +
                       std::to_string(request.processors));
    if (request.user < 0) return invalid("a job needs a user");
    const JobId job{++last_job_};
    waiting_.push_back({job, request});
    std::vector<Start> starts;
    if (waiting_.size() == 1) starts = start_waiting(utilization);
    return Submitted{job, std::move(starts)};
}

Result<void> JobService::cancel(JobId job) {
    const auto found = std::ranges::find(waiting_, job, &QueuedJob::job);
    if (found == waiting_.end()) return unknown(job, "does not wait; a job that runs can be killed");
    waiting_.erase(found);
    return {};
}

Result<std::vector<std::int32_t>> JobService::kill(JobId job) const {
    const auto found = std::ranges::find(running_, job, &Cluster::job);
    if (found == running_.end()) return unknown(job, "does not run; a job that waits can be cancelled");
    return found->hosts;
}

Exit JobService::child_exited(std::int32_t status, std::span<const double> utilization) {
    const std::optional<JobId> job = codes_.take(status);
    if (!job) return {};
    const auto found = std::ranges::find(running_, *job, &Cluster::job);
    ZBS_EXPECTS(found != running_.end());
    Exit exit{.ended = std::move(*found), .starts = {}};
    running_.erase(found);
    clusters_.release(*job);
    exit.starts = start_waiting(utilization);
    return exit;
}

std::vector<Start> JobService::start_waiting(std::span<const double> utilization) {
    std::vector<Start> starts;
    while (!waiting_.empty() && !codes_.full()) {
        const QueuedJob& head = waiting_.front();
        std::optional<Cluster> cluster = clusters_.allocate(
            {.job = head.job, .user = head.request.user, .processors = head.request.processors}, utilization, rng_);
        if (!cluster) break;
        running_.push_back(*cluster);
        starts.push_back({*std::move(cluster), head.request.command, codes_.assign(head.job)});
        waiting_.pop_front();
    }
    return starts;
}

}  // namespace zbs::elmer
