#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/rng.hpp"
#include "algorithms/model/job.hpp"

// Which hosts a parallel job gets where jobs of different priority share hosts, and who goes first on each host. Used
// by queue policies, and by whoever sets the priorities of processes.
namespace zbs::elmer {

/// How hosts are chosen for a job of n processes [Turner1995, chapter 6]. All look for the lowest level that has n
/// usable slots, and draw n of these at random.
enum class AllocationRule : std::uint8_t {
    kLevels,      ///< version 1: a slot is usable when it is free
    kUnloaded,    ///< version 2: and the host's CPU utilisation is at most the threshold
    kArrival,     ///< ours: as version 2, and jobs of a host go by arrival, whatever levels they were given
    kOneCluster,  ///< ours, after remarks of the source: as kArrival; never on the first host of another job, where its
                  ///< barrier process is, nor over two other jobs' hosts; idle hosts first
};

/// The hosts that a job holds.
struct Cluster {
    JobId job;                        ///< J of the source: smaller came first
    std::int32_t user = -1;           ///< U
    std::int32_t level = 0;           ///< 0 is the highest; under arrival rules the lowest of its levels at the start
    std::vector<std::int32_t> hosts;  ///< ascending
    bool operator==(const Cluster&) const = default;
};

/// The table of virtual clusters, cluster[D][P] of the source: which job holds the slot of each level on each host.
/// Level 0 goes first; below it a job gets what those above leave.
///
/// Under kLevels and kUnloaded a job has one level on all of its hosts and keeps it. A slot above it may be given to a
/// later job, which then goes first: the source's rules as printed. Under the others the slots of a host are always in
/// the order of arrival, without gaps: the oldest job is on top, and when one leaves, all below move up. First come,
/// highest priority, then holds on every host.
class VirtualClusters {
  public:
    static constexpr std::int32_t kMaxDegree = 48;  ///< two priorities a level, out of the 99 of POSIX
    struct Options {
        std::int32_t hosts = 1;   ///< P, >= 1
        std::int32_t degree = 2;  ///< D, jobs that a host may have, 1..kMaxDegree; 1 is space sharing
        AllocationRule rule = AllocationRule::kArrival;
        double threshold = 0.8;  ///< t, 0..1: hosts with more CPU utilisation get no job; not looked at by kLevels
    };
    struct Slot {
        JobId job;
        std::int32_t user = -1;
        bool operator==(const Slot&) const = default;
    };

    /// Error kInvalidArgument: an option out of its range.
    static Result<VirtualClusters> make(const Options& options);

    struct Request {
        JobId job;  ///< not in the table yet
        std::int32_t user = -1;
        std::int32_t processors = 1;  ///< 1..hosts
    };
    /// Gives the job its hosts, or nullopt, and nothing changed, where no level has enough of them. `utilization`, 0..1
    /// by host, is what the hosts reported last; empty: nothing is known, and no host is refused. O(D P), under
    /// kOneCluster O(D P log P).
    std::optional<Cluster> allocate(const Request& request, std::span<const double> utilization, Rng& rng);
    /// Puts a job on hosts that were chosen before. Preconditions: as for `allocate`; a slot is free there, under the
    /// source's rules that of `cluster.level`.
    void place(const Cluster& cluster);
    /// Frees all slots of a job. False where it has none. O(D P).
    bool release(JobId job);

    const Options& options() const { return options_; }
    const Slot& at(std::int32_t level, std::int32_t host) const { return slots_[index(level, host)]; }
    /// The slot of the highest job of a host; a free one where it has none. O(D).
    const Slot& top(std::int32_t host) const;
    /// The jobs of a host, the highest first.
    std::vector<Slot> on_host(std::int32_t host) const;
    /// Slots looked at by all allocations so far.
    std::int64_t slots_examined() const { return examined_; }

  private:
    explicit VirtualClusters(const Options& options);
    std::size_t index(std::int32_t level, std::int32_t host) const;
    bool by_arrival() const { return options_.rule >= AllocationRule::kArrival; }
    std::int32_t resident_count(std::int32_t host) const;
    std::vector<std::int32_t> usable_hosts(std::int32_t level, std::span<const double> utilization);
    std::optional<Cluster> allocate_one_cluster(const Request& request, std::span<const double> utilization, Rng& rng);

    Options options_;
    std::vector<Slot> slots_;           ///< by level, then host
    std::vector<bool> root_;            ///< whether some job has its first host there; by host, kOneCluster only
    std::vector<std::int32_t> counts_;  ///< jobs by host
    std::int64_t examined_ = 0;
};

}  // namespace zbs::elmer
