#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/elmer/virtual_clusters.hpp"

namespace zbs::elmer {

/// POSIX FIFO priorities: larger goes first. The daemons of the facility are above all that belongs to users; then
/// come, level by level, the message daemon of a job's user and the job, so that messages are passed on at once and do
/// not disturb a higher job [Turner1995, section 6.3].
inline constexpr std::int32_t kServicePriority = 99;
inline constexpr std::int32_t kLowestNice = 19;
constexpr std::int32_t daemon_priority(std::int32_t level) { return kServicePriority - 1 - 2 * level; }
constexpr std::int32_t job_priority(std::int32_t level) { return kServicePriority - 2 - 2 * level; }
static_assert(job_priority(VirtualClusters::kMaxDegree - 1) >= 1);

/// Where programs may not have a real-time class: nice levels of the system's time sharing class, 0 to 19, spread over
/// the levels 0 .. degree - 1, so that each is as far above the next as can be. Unlike real-time priorities they leave
/// something to who is below: with a degree of 2 one part in 69. Preconditions: 0 <= level < degree.
constexpr std::int32_t nice_level(std::int32_t level, std::int32_t degree) {
    return degree < 2 ? 0 : level * kLowestNice / (degree - 1);
}

/// The priorities that user processes of one host should have. Who is not named goes back to the class and priority
/// that it had before; a message daemon left as it was would harm its user's next job.
struct HostPriorities {
    struct Job {
        JobId job;
        std::int32_t priority;
        bool operator==(const Job&) const = default;
    };
    struct Daemon {
        std::int32_t user;
        std::int32_t priority;
        bool operator==(const Daemon&) const = default;
    };
    std::vector<Job> jobs;  ///< the highest first
    /// One a user: where a user has two jobs here, which share it, it goes above the higher one. The lower one's
    /// messages then disturb jobs in between; the source leaves that open.
    std::vector<Daemon> daemons;
};
/// Ranks jobs by the order in which they stand on the host, so that a job goes up when one above it has left. O(D^2).
HostPriorities host_priorities(const VirtualClusters& clusters, std::int32_t host);

}  // namespace zbs::elmer
