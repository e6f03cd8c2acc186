#include "studies/models/cluster_programs.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

using Kind = ProcessStep::Kind;
constexpr Duration kLatency = std::chrono::microseconds{100};
constexpr Duration kPart = std::chrono::milliseconds{10};

std::vector<std::int32_t> hosts_from(std::int32_t first, std::int32_t count) {
    std::vector<std::int32_t> hosts(static_cast<std::size_t>(count));
    std::iota(hosts.begin(), hosts.end(), first);
    return hosts;
}

}  // namespace

ClusterJob barrier_job(const elmer::BarrierTimes& times, const std::vector<std::int32_t>& hosts, std::int32_t level) {
    ZBS_EXPECTS(!hosts.empty());
    const auto peers = static_cast<std::int32_t>(hosts.size()) - 1;
    ZBS_EXPECTS(peers == 0 || times.phase_delay >= 2 * kLatency);
    ClusterJob job{.level = level, .processes = std::vector<ClusterProcess>(hosts.size())};
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        ClusterProcess& process = job.processes[i];
        process.host = hosts[i];
        process.phases = times.phases;
        process.first = {{.kind = Kind::kCompute, .time = times.setup}};
        process.phase = {{.kind = Kind::kCompute, .time = times.phase_compute}};
    }
    if (peers == 0) {
        job.processes[0].phase[0].time += times.phase_delay;
        return job;
    }
    const Duration work = (times.phase_delay - 2 * kLatency) / peers;
    const Duration back = times.phase_delay - kLatency - work * peers;
    std::vector<ProcessStep>& barrier = job.processes[0].phase;
    for (std::int32_t i = 1; i <= peers; ++i) {
        barrier.push_back({.kind = Kind::kReceive});
        barrier.push_back({.kind = Kind::kCompute, .time = work});
        std::vector<ProcessStep>& other = job.processes[static_cast<std::size_t>(i)].phase;
        other.push_back({.kind = Kind::kSend, .time = kLatency, .peer = 0});
        other.push_back({.kind = Kind::kReceive});
    }
    for (std::int32_t i = 1; i <= peers; ++i) barrier.push_back({.kind = Kind::kSend, .time = back, .peer = i});
    return job;
}

ClusterJob compute_job(const elmer::ComputeTimes& times, const std::vector<std::int32_t>& hosts, std::int32_t level,
                       Balance balance) {
    ZBS_EXPECTS(!hosts.empty());
    const auto count = static_cast<std::int32_t>(hosts.size());
    ClusterJob job{.level = level, .processes = std::vector<ClusterProcess>(hosts.size())};
    const Duration total = times.compute * count;
    ProcessStep share{.kind = Kind::kShare, .time = total};
    if (balance == Balance::kKept) {
        job.pool = total;
        share = {.kind = Kind::kTake, .time = kPart};
    }
    for (std::int32_t i = 0; i < count; ++i) {
        ClusterProcess& process = job.processes[static_cast<std::size_t>(i)];
        process.host = hosts[static_cast<std::size_t>(i)];
        process.first.push_back({.kind = Kind::kMeasure, .time = times.start});
        if (i == 0) {
            for (std::int32_t peer = 1; peer < count; ++peer) process.first.push_back({.kind = Kind::kReceive});
            for (std::int32_t peer = 1; peer < count; ++peer)
                process.first.push_back({.kind = Kind::kSend, .peer = peer});
            process.first.push_back(share);
            for (std::int32_t peer = 1; peer < count; ++peer) process.last.push_back({.kind = Kind::kReceive});
        } else {
            process.first.push_back({.kind = Kind::kSend, .peer = 0});
            process.first.push_back({.kind = Kind::kReceive});
            process.first.push_back(share);
            process.last.push_back({.kind = Kind::kSend, .peer = 0});
        }
    }
    return job;
}

LayoutHosts layout_hosts(SharedLayout layout, std::int32_t processors) {
    ZBS_EXPECTS(processors >= 1 && processors <= most_processors(layout));
    LayoutHosts hosts{.high = hosts_from(0, processors), .low = hosts_from(0, processors)};
    if (layout == SharedLayout::kE3) std::ranges::rotate(hosts.low, hosts.low.end() - 1);
    if (layout == SharedLayout::kE4 && processors > 1) {
        hosts.low = hosts_from(1, processors);
        std::ranges::rotate(hosts.low, hosts.low.end() - 1);
    }
    if (layout == SharedLayout::kE5) {
        hosts.high = hosts_from(0, kLayoutHosts);
        hosts.low = hosts_from(1, processors);
    }
    return hosts;
}

}  // namespace zbs
