#include "algorithms/elmer/host_priorities.hpp"

#include <algorithm>

namespace zbs::elmer {

HostPriorities host_priorities(const VirtualClusters& clusters, std::int32_t host) {
    HostPriorities priorities;
    std::int32_t rank = 0;
    for (const VirtualClusters::Slot& slot : clusters.on_host(host)) {
        priorities.jobs.push_back({slot.job, job_priority(rank)});
        if (std::ranges::find(priorities.daemons, slot.user, &HostPriorities::Daemon::user) == priorities.daemons.end())
            priorities.daemons.push_back({slot.user, daemon_priority(rank)});
        ++rank;
    }
    return priorities;
}

}  // namespace zbs::elmer
