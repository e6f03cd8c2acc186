#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// How each host of a cluster decides which of its processes runs [Turner1995, section 5.2.2].
struct HostScheduling {
    enum class Rule : std::uint8_t {
        kFeedback,    ///< round robin with multilevel feedback (RRMF): a process keeps the processor to the end of its
                      ///< quantum, also from one of higher level that becomes ready
        kFifo,        ///< a higher level takes the processor at once; within a level first come, first served
        kRoundRobin,  ///< the same, with quanta within a level
    };
    Rule rule = Rule::kFifo;
    Duration quantum = std::chrono::milliseconds{2};  ///< > 0, an hour at most; kFeedback, kRoundRobin
    /// kFeedback: a process that has computed for so long without blocking goes down a level, each time, to
    /// `lowest_level` at most; blocking takes it back to its own. 0: never.
    Duration drift{};
    std::int32_t lowest_level = 1;
    /// A receive gives up the processor even if its message is there. False: it blocks only if not.
    bool receive_yields = false;
    Duration context_switch{};  ///< >= 0, each time another process runs than ran last on that host
};

/// One step of a process. Sends and receives take no processor time of their own: write it out as computing.
struct ProcessStep {
    enum class Kind : std::uint8_t {
        kCompute,  ///< for `time` of processor time
        kSend,     ///< to process `peer`; the message is there `time` later
        kReceive,  ///< waits for a message of any process
        kMeasure,  ///< computes until `time` has passed on the clock, and notes how much processor time it got
        kShare,    ///< computes its part of `time`: as large as that of what all of the job have measured
        kTake,     ///< computes parts of `time` of the job's pool, until that is empty
    };
    Kind kind = Kind::kCompute;
    Duration time{};         ///< >= 0
    std::int32_t peer = -1;  ///< index in the job
    bool operator==(const ProcessStep&) const = default;
};
/// A process: `first`, then `phase` over and over, then `last`.
struct ClusterProcess {
    std::int32_t host = 0;
    std::vector<ProcessStep> first, phase, last;
    std::int64_t phases = 0;
};
/// Daemons, one on each host of a job, that pass its messages from other hosts on (pvmd of the source).
struct MessageDaemons {
    std::int32_t level = 0;
    Duration relay = std::chrono::microseconds{200};  ///< processor time a message, > 0
};
struct ClusterJob {
    std::int32_t level = 0;  ///< >= 0; 0 is the highest
    Time start{};
    std::vector<ClusterProcess> processes;
    Duration pool{};                        ///< computing that processes take their parts from, >= 0
    std::optional<MessageDaemons> daemons;  ///< none: messages go straight to their receivers
};

struct ClusterOutcome {
    std::vector<Time> end;           ///< of each job: when its last process has ended
    std::vector<Duration> busy;      ///< by host: processes ran there
    std::vector<Duration> computed;  ///< by job: processor time of its processes, without daemons
    std::int64_t events = 0;
    std::int64_t switches = 0;  ///< another process than before ran on a host
    bool operator==(const ClusterOutcome&) const = default;
};

/// Runs jobs side by side on hosts of one processor each: a discrete-event model, exact in microseconds. Of what
/// happens at one instant messages come first, then hosts, by number; only then do hosts choose. A pure function of its
/// arguments. O(events x log(messages under way) + events x processes of a host).
///
/// Errors: an option, host, level, peer or time out of its range (kInvalidArgument); a process waits for a message that
/// nobody will send (kConflict).
Result<ClusterOutcome> run_time_shared_cluster(std::int32_t hosts, std::span<const ClusterJob> jobs,
                                               const HostScheduling& scheduling);

}  // namespace zbs
