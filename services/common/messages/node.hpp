#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"
#include "services/common/messages/names/name_types.hpp"
#include "services/common/messages/steps/rank_end.hpp"

namespace zbs {

/// What does not change of a node while its agent runs.
struct NodeDescription {
    MachineName name;
    int processors =
        1;            ///< processing elements that this agent may use: hardware threads within its affinity and limits
    int cores = 1;    ///< that they are of
    int sockets = 1;  ///< that these are of
    std::uint64_t memory_bytes = 0;  ///< of the machine, or the limit of the agent's control group
    std::string hwloc_version;       ///< of the library that said so
    std::string clock_source;        ///< of the kernel, e.g. "tsc"
    std::string step_folder;         ///< where the files of a step lie; `{operation}` stands for its id
    bool weights = false;            ///< its agent can give steps weights, by control groups
    bool operator==(const NodeDescription&) const = default;
};

/// What a node has to give at one moment.
struct NodeLoad {
    double load_1 = 0;  ///< average of the last minute, of the whole host
    double load_5 = 0;
    double load_15 = 0;
    /// Processors that others than this agent's steps left free since the last measurement, 0..processors: what a new
    /// step could have had, and the input of a forecast.
    double cpu_available = 0;
    std::uint64_t memory_available_bytes = 0;
    Time at{};
    bool operator==(const NodeLoad&) const = default;
};

/// Of a step's processes together, at the moment of looking.
enum class StepActivity {
    kRunning,    ///< at least one thread runs or could run
    kBlocked,    ///< all wait: for a disk, a message, a timer, each other
    kSuspended,  ///< stopped by the agent
};
constexpr auto words_of(StepActivity) { return std::array{"running", "blocked", "suspended"}; }

/// What a step has used since its start.
struct StepUsage {
    Duration cpu{};                ///< user and system, of processes that have ended too
    Duration blocked{};            ///< time in which no thread of it could run, as seen by the agent's samples
    Duration waiting{};            ///< ready and waiting for a processor, summed over the threads that live now
    std::uint64_t read_bytes = 0;  ///< from disks; waited-for children included
    std::uint64_t written_bytes = 0;
    int processes = 0;                       ///< that live now
    std::uint64_t voluntary_switches = 0;    ///< of the threads that live now
    std::uint64_t involuntary_switches = 0;  ///< likewise
    StepActivity activity = StepActivity::kRunning;
    bool operator==(const StepUsage&) const = default;
};

enum class StepState { kUnknown, kRunning, kExited };
constexpr auto words_of(StepState) { return std::array{"unknown", "running", "exited"}; }

/// A step as its agent sees it.
struct StepReport {
    StepId step_id;
    StepState state = StepState::kUnknown;
    int exit_code = 0;               ///< once exited; 128 + n where signal n ended it
    std::string reason;              ///< where it did not end by itself
    std::optional<StepUsage> usage;  ///< while it runs
    std::optional<StepWork> work{};  ///< likewise, once something was seen of it
    bool operator==(const StepReport&) const = default;
};

/// Steps, and the number of the agent's last change of any of them; it goes up, over restarts too.
struct StepPage {
    std::uint64_t version = 0;
    std::vector<StepReport> steps;
    bool operator==(const StepPage&) const = default;
};

/// As `StepFiles::File`.
struct StepFile {
    std::string name;
    std::uint64_t bytes = 0;
    std::string fault{};
    bool is_folder = false;
    bool executable = false;
    bool operator==(const StepFile&) const = default;
};

/// A part of a step's removal; see `StepFiles::remove`.
struct StepRemoval {
    std::size_t files = 0;
    bool complete = false;
    bool operator==(const StepRemoval&) const = default;
};

/// What runs in slots that would be idle. LTS: local task scheduler [DaSilva2000, section 6.2].
enum class FillMode { kNone, kLts };
constexpr auto words_of(FillMode) { return std::array{"none", "lts"}; }

/// The part of a slice matrix that is one node's: what runs there in which row. Rows take turns, counted from `epoch`
/// on, which all nodes have in common. Without rows: time sharing ends, everything runs.
///
/// Without shares each row has `slice` in its turn. With them the rows together have it, each in proportion to its
/// share, again and again: a duty cycle.
struct SliceColumn {
    std::uint64_t number = 0;               ///< fencing: an agent takes none that is not greater than the last
    Time epoch{};                           ///< wall clock; in the future: what was in force before stays until then
    Duration slice{};                       ///< length of a row
    std::vector<std::vector<StepId>> rows;  ///< steps; one may be in several rows
    FillMode fill = FillMode::kNone;
    std::vector<StepId> fillers;  ///< steps that may run in slots that would be idle, in this order
    std::vector<int> shares{};    ///< by row, 1..100; empty, or as many as rows
    bool operator==(const SliceColumn&) const = default;
};

/// The share of one step on its processors: a weight, or a nice level.
struct Share {
    StepId step_id;
    std::optional<int> weight;  ///< 1..10000; 100 is as without
    std::optional<int> nice;    ///< -20..19
    bool operator==(const Share&) const = default;
};
struct ShareTable {
    std::uint64_t number = 0;  ///< fencing, as of `SliceColumn`
    std::vector<Share> shares;
    bool operator==(const ShareTable&) const = default;
};

/// Measurements of one kind.
struct DurationSummary {
    std::uint64_t count = 0;
    Duration mean{};
    Duration p99{};  ///< at most an eighth too large
    Duration max{};
    bool operator==(const DurationSummary&) const = default;
};

/// How well an agent keeps its slices.
struct SwitchStatistics {
    DurationSummary late;      ///< from a boundary until the agent was at it
    DurationSummary cost;      ///< to suspend one row and resume the next
    std::uint64_t fills = 0;   ///< slots given to a step of another row
    std::uint64_t failed = 0;  ///< steps that could not be suspended or resumed
    bool operator==(const SwitchStatistics&) const = default;
};

struct NodeStatus {
    NodeDescription description;
    NodeLoad load;
    int steps = 0;              ///< that run
    std::uint64_t slices = 0;   ///< number of the last column taken; 0 = none
    std::uint64_t shares = 0;   ///< number of the last share table taken
    std::uint64_t version = 0;  ///< as `StepPage::version`
    SwitchStatistics switches;
    bool operator==(const NodeStatus&) const = default;
};

/// The registration that an agent repeats to its zone.
struct NodeRegistration {
    std::string url;  ///< where the agent listens
    NodeDescription description;
    NodeLoad load;
    bool operator==(const NodeRegistration&) const = default;
};
/// What its zone grants: the node counts as there for this long, unless it registers again.
struct NodeLease {
    MachineName node;
    Duration lease{};
    bool operator==(const NodeLease&) const = default;
};

/// Whom an agent is asked to measure the way to: another agent, where it has registered.
struct ProbeRequest {
    MachineName node;
    std::string url;
    bool operator==(const ProbeRequest&) const = default;
};
/// What it has measured.
struct ProbeReport {
    MachineName node;         ///< the other one
    Duration round_trip{};    ///< of the fastest of some short calls
    std::uint64_t bytes = 0;  ///< that a long call has brought from there
    Duration transfer{};      ///< how long the fastest of those took, its round trip included
    Duration overhead{};      ///< of the fastest short call of the agent to itself: what the programs take, not the way
    bool operator==(const ProbeReport&) const = default;
};

}  // namespace zbs
