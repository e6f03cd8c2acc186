#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "algorithms/model/task_graph.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/messages/steps/rank_end.hpp"

namespace zbs {

/// `held -> committed -> running -> completed | failed`, or `released` (given back), `expired` (hold ran out
/// uncommitted).
enum class PartState { kHeld, kCommitted, kRunning, kCompleted, kFailed, kReleased, kExpired };
constexpr auto words_of(PartState) {
    return std::array{"held", "committed", "running", "completed", "failed", "released", "expired"};
}
constexpr bool is_final(PartState s) {
    return s == PartState::kCompleted || s == PartState::kFailed || s == PartState::kReleased ||
           s == PartState::kExpired;
}

/// A user's delegation as it is shown to one zone for one part: the proxy's chain (PEM), and what home signed with its
/// key.
struct DelegationProof {
    std::string text;
    std::string chain;
    std::string signature;  ///< base64
    bool operator==(const DelegationProof&) const = default;
};

/// How a job stands to others where zones share processors by priority: 0..kMaxPriority, more goes first.
inline constexpr int kMaxPriority = 9;
inline constexpr int kUsualPriority = 5;
/// Of its processors, per cent, where zones share them by shares. No job may have all [Huang2004, section 5.3]; less
/// than the least is hardly more than what switching takes.
inline constexpr int kMinShare = 5;
inline constexpr int kMaxShare = 95;
/// Time to save, between SIGTERM and SIGKILL, of a job that asks for none; as KillWait of Slurm.
inline constexpr Duration kUsualGrace = std::chrono::seconds{30};

/// ScheduleCluster: home asks a zone to map its share of an application and to hold the processors.
struct PartRequest {
    PartId id;
    ApplicationId application;
    Caller user;
    ZoneName home;                 ///< zone name of the home scheduler
    std::vector<TaskIndex> ranks;  ///< world rank of each task of this part, ascending
    TaskGraph graph;               ///< this part only: task i is world rank ranks[i]
    struct Outside {
        ZoneName zone;
        double bytes = 0;
        double messages = 0;
        bool operator==(const Outside&) const = default;
    };
    /// Traffic to the other parts, summed by zone. Where none is known of, one of the other zones, with zero.
    std::vector<Outside> outside;
    Duration walltime{};
    std::uint64_t seed = 1;
    std::vector<std::string> groups{};          ///< of the user, as home says
    std::optional<DelegationProof> delegation;  ///< of the user, to who holds the part; not stored by the zone
    Duration start_in{};                        ///< its processes start this long after the call; 0 = now
    /// A part of the same application that the zone gives up in the same step: an earlier start for a later one.
    std::optional<PartId> replaces{};
    /// Its zone holds no processors for it at once, but gives it some when its queue discipline says so.
    bool queued = false;
    int priority = kUsualPriority;
    std::optional<int> share{};  ///< of each processor, per cent, at least; none: as the zone has it
    std::string partition{};     ///< only machines of this one; empty: of all that its user may have
    std::optional<StagingNeed> staging{};
    /// Between SIGTERM, at the walltime or a release, and SIGKILL; its zone cuts it to the most that it gives.
    Duration grace{};
    int overcommit = 1;  ///< ranks that may share a processor; the part has no more processors than they need
    /// The same part again may come with a fresh proof, after its user has changed groups, and nearer to its start.
    bool operator==(const PartRequest& other) const {
        return id == other.id && application == other.application && user == other.user && home == other.home &&
               ranks == other.ranks && graph == other.graph && outside == other.outside && walltime == other.walltime &&
               seed == other.seed && replaces == other.replaces && queued == other.queued &&
               priority == other.priority && share == other.share && staging == other.staging && grace == other.grace &&
               partition == other.partition && overcommit == other.overcommit;
    }
};

/// Processors of so many ranks. Precondition: `overcommit`, ranks that share one, is >= 1.
constexpr int processors_for(std::size_t ranks, int overcommit) {
    return (static_cast<int>(ranks) + overcommit - 1) / overcommit;
}
inline int processors_of(const PartRequest& request) {
    return processors_for(request.ranks.size(), request.overcommit);
}

/// Where one rank goes, in the words of the zone that holds it.
struct RankPlace {
    TaskIndex rank = 0;
    MachineName machine;
    std::int32_t processor = 0;  ///< 0-based within the machine
    bool operator==(const RankPlace&) const = default;
};

/// The processors of an assignment, each once, with its first rank: in the order of these. O(ranks x log ranks).
std::vector<RankPlace> processors_in(const std::vector<RankPlace>& assignment);
/// Whether an assignment is of exactly these ranks, in order, and at most `overcommit` of them share a processor.
bool is_assignment_of(const std::vector<RankPlace>& assignment, const std::vector<TaskIndex>& ranks, int overcommit);

/// The variable that names the zone in which a rank runs.
inline constexpr const char* kZoneVariable = "ZBS_ZONE";

/// What the reason of an end begins with, of a step, a part and an application, where the walltime ended it.
inline constexpr std::string_view kWalltimeReason = "walltime";
/// What it ends with where the program of all ranks of that zone had done its work, and stayed.
inline constexpr std::string_view kNoneExitsReason =
    ": all ranks there had returned from MPI_Finalize, and not all had exited";
/// After it, the rank that had ended badly while others went on, if there is one: how it ended follows.
inline constexpr std::string_view kBeforeWalltimeReason = "; before it ";
/// Where a rank's program never began: in which zone and why follows.
inline constexpr std::string_view kNotBegunReason = "the program did not begin";
/// Where the site's own scheduler took the processors away.
inline constexpr std::string_view kTakenBackReason = "processors were taken back";

/// Where the files in a job's folder were too many or too large: what was too much follows.
inline constexpr std::string_view kFolderReason = "the files in its folder take more of the disk than is allowed";

/// What a part can expect that waits for processors in the queue of its zone. Times are from the answer on.
struct QueueOutlook {
    std::optional<int> place;             ///< 1 = first in the queue; not sent to zones of other organisations
    std::optional<Duration> start_in;     ///< if nothing ends early and nobody comes in between; none: not known
    std::optional<Duration> promised_in;  ///< the queue discipline's promise, as far as it gives any
    std::string waits_for;                ///< "turn", "reservation" or "right"; empty where the zone does not report it
    bool operator==(const QueueOutlook&) const = default;
};

struct PartStatus {
    PartId id;
    ZoneName zone;
    PartState state = PartState::kHeld;
    std::uint64_t token = 0;  ///< fencing token: grows with every hold of the zone; needed to commit and launch
    Duration expires_in{};    ///< until its zone gives it up: held, or committed and not launched; else zero
    Duration starts_in{};     ///< of a reservation, until its start; zero for what may start now
    bool ready = true;        ///< its processors are free of what ran there before
    std::vector<RankPlace> assignment;  ///< one per rank, by rank
    std::optional<QueueOutlook> queue;  ///< while it waits; then it has no assignment yet
    std::string reason;                 ///< why failed, released or expired
    std::optional<int> exit_code;       ///< of the zone's launcher once ended
    std::optional<RankEnd> first_end;   ///< of its ranks that did not end well, the first, where that is known
    bool can_profile = false;           ///< ranks here can be profiled; all zones of a job must, or none does
    bool has_profile = false;           ///< a model of the run waits at GET /v1/parts/{id}/profile
    std::string file_system{};          ///< shared one that its zone declares; empty: none
    std::optional<StepWork> work{};     ///< of its ranks here, if agents measure it; for the own organisation only
    std::optional<Duration> grace{};    ///< that its zone gives, if that is less than asked for
    bool operator==(const PartStatus&) const = default;
};

/// The start of one zone's share of an MPI job: how its proxies reach the coordinator.
/// What starts the ranks of an application.
enum class Launcher {
    kMpich,     ///< mpiexec at home, a proxy for each run of ranks on one machine; over any number of zones
    kOpenMpi,   ///< mpirun at home, a daemon on each machine; in home's own zone
    kSrunPmi2,  ///< srun in home's own zone, where Slurm has its machines; programs of MPICH and its kin
    kSrunPmix,  ///< the same for programs of Open MPI
};
constexpr auto words_of(Launcher) { return std::array{"mpich", "openmpi", "srun-pmi2", "srun-pmix"}; }
constexpr bool is_srun(Launcher launcher) { return launcher >= Launcher::kSrunPmi2; }
/// Whether the ranks' output lies with the parts instead of coming to the launcher at home.
constexpr bool leaves_output_in_parts(Launcher launcher) { return launcher == Launcher::kOpenMpi; }
/// The profiler reads calls of MPICH and its kin.
constexpr bool can_be_profiled(Launcher launcher) {
    return launcher == Launcher::kMpich || launcher == Launcher::kSrunPmi2;
}
/// Only MPICH's launcher works over several zones.
constexpr bool needs_own_zone(Launcher launcher) { return launcher != Launcher::kMpich; }

struct LaunchRequest {
    std::uint64_t token = 0;
    std::string operation;  ///< `launch_operation` of the part: a repeat starts nothing twice
    std::vector<std::pair<std::string, std::string>>
        options;  ///< of the MPI launcher's proxy, name without dashes and value
    struct Proxy {
        int id = 0;           ///< the launcher's number of this proxy
        MachineName machine;  ///< of the assignment
        bool operator==(const Proxy&) const = default;
    };
    std::vector<Proxy> proxies;
    bool profile = true;  ///< give the ranks a place for the model
    bool preload =
        true;  ///< the zone's library into all ranks, which makes MPI_Finalize safe; in all zones, or in none
    Launcher launcher = Launcher::kMpich;
    /// What every rank runs, where no launcher at home says so (srun).
    struct Program {
        std::vector<std::string> argv;
        std::string directory;
        std::vector<std::pair<std::string, std::string>> environment;
        bool operator==(const Program&) const = default;
    };
    std::optional<Program> program{};
    bool operator==(const LaunchRequest&) const = default;
};

/// Name of the only launch that a part can have.
std::string launch_operation(const PartId& part);

}  // namespace zbs
