#pragma once
#include <cstdint>
#include <vector>

#include "studies/models/time_shared_cluster.hpp"
#include "studies/models/time_sharing_model.hpp"

// The two programs of the source's experiments, and on which hosts its pairs of jobs ran.
namespace zbs {

/// A program of phases: each process computes, then all meet at a barrier, which process 0 implements: it receives a
/// message of every other, works on each, and sends one back to all [Turner1995, section 5.2.1]. Process i runs on
/// `hosts[i]`.
///
/// The phase delay of `times` is made up of the latency of two messages, and the work on those that arrive, which keeps
/// the first host busy while the others wait. Precondition: at least one host; with several the delay is 0.2 ms a phase
/// or more.
ClusterJob barrier_job(const elmer::BarrierTimes& times, const std::vector<std::int32_t>& hosts, std::int32_t level);

/// How the computing of a program is divided among hosts of which some are busy.
enum class Balance : std::uint8_t {
    kMeasured,  ///< once, by what each process got in the start phase: the source's words
    kKept,      ///< ours: processes take parts as they can until all is done, so balance holds when the other job ends
};
/// A program that only computes: a start phase in which each process measures how much processor time it gets, then the
/// computing, then a message of each to process 0 [Turner1995, section 5.2.1].
ClusterJob compute_job(const elmer::ComputeTimes& times, const std::vector<std::int32_t>& hosts, std::int32_t level,
                       Balance balance = Balance::kKept);

/// Which hosts the two jobs of an experiment share [Turner1995, section 6.5].
enum class SharedLayout : std::uint8_t {
    kE1,  ///< the same hosts, the low job computes
    kE2,  ///< the same hosts, both barrier processes on host 0
    kE3,  ///< the same hosts, barrier processes on the first and on the last
    kE4,  ///< two clusters that overlap but for one host each, where their barrier processes are
    kE5,  ///< the high job on all hosts, the low one on all but the high one's barrier host
};
/// By process; barrier processes are the first ones.
struct LayoutHosts {
    std::vector<std::int32_t> high, low;
};
/// For `processors` (the x axis of the figures): 1..6, in E4 and E5 1..5, those of the low job in E5. E4 for fewer than
/// five processors is ours: hosts 0..P-1 and 1..P. Precondition: in range.
LayoutHosts layout_hosts(SharedLayout layout, std::int32_t processors);
inline constexpr std::int32_t kLayoutHosts = 6;
constexpr std::int32_t most_processors(SharedLayout layout) { return layout >= SharedLayout::kE4 ? 5 : 6; }

}  // namespace zbs
