#include "algorithms/elmer/virtual_clusters.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "algorithms/base/expects.hpp"
#include "algorithms/model/trace_diagram.hpp"

namespace zbs::elmer {
namespace {

constexpr VirtualClusters::Slot kFree{};

/// `count` of `hosts` at random; all others stay behind them.
void draw(std::span<std::int32_t> hosts, std::size_t count, Rng& rng) {
    for (std::size_t i = 0; i < count; ++i) std::swap(hosts[i], hosts[i + rng.below(hosts.size() - i)]);
}

Cluster cluster_of(const VirtualClusters::Request& request, std::int32_t level, std::vector<std::int32_t> hosts) {
    hosts.resize(static_cast<std::size_t>(request.processors));
    std::ranges::sort(hosts);
    return {.job = request.job, .user = request.user, .level = level, .hosts = std::move(hosts)};
}

}  // namespace

VirtualClusters::VirtualClusters(const Options& options)
    : options_(options),
      slots_(static_cast<std::size_t>(options.degree) * static_cast<std::size_t>(options.hosts)),
      root_(static_cast<std::size_t>(options.hosts)),
      counts_(static_cast<std::size_t>(options.hosts)) {}

Result<VirtualClusters> VirtualClusters::make(const Options& options) {
    if (options.hosts < 1) return invalid("a cluster needs a host");
    if (options.degree < 1 || options.degree > kMaxDegree)
        return invalid("a host has 1 to " + std::to_string(kMaxDegree) + " jobs at most, not " +
                       std::to_string(options.degree) + ": 1 for space sharing, 2 for one job below another");
    if (!(options.threshold >= 0 && options.threshold <= 1))
        return invalid("the threshold of CPU utilisation is a part of 1, 0 to 1: write 0.8 for 80 per cent");
    return VirtualClusters(options);
}

std::size_t VirtualClusters::index(std::int32_t level, std::int32_t host) const {
    ZBS_EXPECTS(level >= 0 && level < options_.degree && host >= 0 && host < options_.hosts);
    return static_cast<std::size_t>(level) * static_cast<std::size_t>(options_.hosts) + static_cast<std::size_t>(host);
}

std::int32_t VirtualClusters::resident_count(std::int32_t host) const {
    return counts_[static_cast<std::size_t>(host)];
}

/// Hosts that can take a job at this level. Under the arrival rules a newcomer stands behind all jobs of a host, so it
/// is at this level or above where there are no more of them than that.
std::vector<std::int32_t> VirtualClusters::usable_hosts(std::int32_t level, std::span<const double> utilization) {
    const bool reported = options_.rule != AllocationRule::kLevels && !utilization.empty();
    std::vector<std::int32_t> usable;
    for (std::int32_t host = 0; host < options_.hosts; ++host) {
        ++examined_;
        const bool free = by_arrival() ? resident_count(host) <= level : at(level, host) == kFree;
        if (free && !(reported && utilization[static_cast<std::size_t>(host)] > options_.threshold))
            usable.push_back(host);
    }
    return usable;
}

std::optional<Cluster> VirtualClusters::allocate(const Request& request, std::span<const double> utilization,
                                                 Rng& rng) {
    ZBS_EXPECTS(request.processors >= 1 && request.processors <= options_.hosts);
    ZBS_EXPECTS(utilization.empty() || utilization.size() == static_cast<std::size_t>(options_.hosts));
    if (options_.rule == AllocationRule::kOneCluster) return allocate_one_cluster(request, utilization, rng);
    for (std::int32_t level = 0; level < options_.degree; ++level) {
        std::vector<std::int32_t> usable = usable_hosts(level, utilization);
        if (usable.size() < static_cast<std::size_t>(request.processors)) continue;
        draw(usable, static_cast<std::size_t>(request.processors), rng);
        Cluster cluster = cluster_of(request, level, std::move(usable));
        place(cluster);
        return cluster;
    }
    return std::nullopt;
}

/// Idle hosts, then those of one other job, or of several that share all of them.
std::optional<Cluster> VirtualClusters::allocate_one_cluster(const Request& request,
                                                             std::span<const double> utilization, Rng& rng) {
    const auto wanted = static_cast<std::size_t>(request.processors);
    std::vector<std::int32_t> idle;
    std::map<std::vector<JobId>, std::vector<std::int32_t>> shared;  // by the jobs that hosts have
    for (const std::int32_t host : usable_hosts(options_.degree - 1, utilization)) {
        if (resident_count(host) == 0) {
            idle.push_back(host);
        } else if (!root_[static_cast<std::size_t>(host)]) {
            std::vector<JobId> jobs;
            for (const Slot& slot : on_host(host)) jobs.push_back(slot.job);
            examined_ += resident_count(host);
            shared[std::move(jobs)].push_back(host);
        }
    }
    if (idle.size() >= wanted) {
        draw(idle, wanted, rng);
        Cluster cluster = cluster_of(request, 0, std::move(idle));
        place(cluster);
        return cluster;
    }
    const std::vector<std::int32_t>* most = nullptr;
    std::size_t fewest_jobs = 0;
    for (const auto& [jobs, hosts] : shared) {
        if (idle.size() + hosts.size() < wanted || (most != nullptr && jobs.size() >= fewest_jobs)) continue;
        most = &hosts;
        fewest_jobs = jobs.size();
    }
    if (most == nullptr) return std::nullopt;
    std::vector<std::int32_t> hosts = *most;
    draw(hosts, wanted - idle.size(), rng);
    idle.insert(idle.end(), hosts.begin(), hosts.end());
    Cluster cluster = cluster_of(request, static_cast<std::int32_t>(fewest_jobs), std::move(idle));
    place(cluster);
    return cluster;
}

void VirtualClusters::place(const Cluster& cluster) {
    ZBS_EXPECTS(!cluster.hosts.empty() && cluster.job != kNoJob);
    for (const std::int32_t host : cluster.hosts) {
        std::int32_t level = cluster.level;
        if (by_arrival()) {
            level = resident_count(host);
            ZBS_EXPECTS(level < options_.degree);
            for (; level > 0 && at(level - 1, host).job > cluster.job; --level)
                slots_[index(level, host)] = at(level - 1, host);
        }
        Slot& slot = slots_[index(level, host)];
        ZBS_EXPECTS(by_arrival() || slot == kFree);
        slot = {cluster.job, cluster.user};
        ++counts_[static_cast<std::size_t>(host)];
    }
    if (options_.rule == AllocationRule::kOneCluster) root_[static_cast<std::size_t>(cluster.hosts.front())] = true;
}

bool VirtualClusters::release(JobId job) {
    bool first = true;
    for (std::int32_t host = 0; host < options_.hosts; ++host) {
        std::int32_t level = 0;
        while (level < options_.degree && at(level, host).job != job) ++level;
        if (level == options_.degree) continue;
        for (; by_arrival() && level + 1 < options_.degree; ++level) slots_[index(level, host)] = at(level + 1, host);
        slots_[index(level, host)] = kFree;
        --counts_[static_cast<std::size_t>(host)];
        // No other job began there while this one did.
        if (first && options_.rule == AllocationRule::kOneCluster) root_[static_cast<std::size_t>(host)] = false;
        first = false;
    }
    return !first;
}

const VirtualClusters::Slot& VirtualClusters::top(std::int32_t host) const {
    std::int32_t level = 0;
    while (level + 1 < options_.degree && at(level, host) == kFree) ++level;
    return at(level, host);
}

std::vector<VirtualClusters::Slot> VirtualClusters::on_host(std::int32_t host) const {
    std::vector<Slot> jobs;
    for (std::int32_t level = 0; level < options_.degree; ++level)
        if (const Slot& slot = at(level, host); slot != kFree) jobs.push_back(slot);
    return jobs;
}

}  // namespace zbs::elmer
