#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs::slurm {

/// Processors of one node.
struct NodeShare {
    std::string node;
    int processors = 0;
    bool operator==(const NodeShare&) const = default;
};

/// Processors to be held for one operation.
struct HoldSpec {
    std::string operation;  ///< stable over retries and restarts, 128-bit id: [A-Za-z0-9-]{1,64}
    std::string partition;  ///< empty = Slurm's default
    std::string account;    ///< that Slurm charges; empty = the user's default
    AccountName user;       ///< whose job it is; empty = who runs this service. Others need root
    /// Exactly these; empty = as Slurm likes, so many as the next two say.
    std::vector<NodeShare> shares;
    int processors = 1;   ///< altogether
    int nodes = 0;        ///< exactly so many; 0 = as Slurm likes
    Duration walltime{};  ///< Slurm ends all in it this long after its start; whole minutes, rounded up
    /// Given back by itself this long after its start unless kept; 0 = as if kept from the begin. Counted by the
    /// placeholder on its node, in whole seconds: needs neither this service nor the network.
    Duration expiry{};
    std::optional<Time> start;  ///< Unix time, whole seconds, rounded up; none = as soon as can be
    Duration wait{};            ///< how long to wait for Slurm to start it, before the answer
};

/// What stands behind a hold.
enum class Strength {
    kQueued,       ///< nothing: it waits in Slurm's queue
    kReservation,  ///< a reservation of Slurm: the processors are ours from the start on
    kPlaceholder,  ///< a running job: the processors are ours now
};

/// How far the job is that holds the processors.
enum class Phase { kWaiting, kRunning, kEnding, kEnded };

/// One hold as Slurm reports it.
struct Allocation {
    std::string operation;
    std::uint32_t job = 0;  ///< Slurm's number
    Phase phase = Phase::kWaiting;
    Strength strength = Strength::kQueued;
    std::string state;   ///< Slurm's own word
    std::string reason;  ///< Slurm's own: why it waits, or how it ended
    AccountName user;
    std::string partition;
    bool kept = false;             ///< does not expire
    std::optional<Time> start;     ///< of what runs or ran, else expected; none = Slurm does not know
    std::optional<Time> end;       ///< the latest, where it runs; of what ended: when
    std::vector<NodeShare> nodes;  ///< where it runs; of `look` only the names
    bool operator==(const Allocation&) const = default;
};

}  // namespace zbs::slurm
