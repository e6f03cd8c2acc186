#pragma once
#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs {

/// Dense 0-based number of a task (process, rank) in a task graph.
using TaskIndex = std::int32_t;

/// Traffic between two tasks, both directions together; u < v.
struct TaskEdge {
    TaskIndex u = 0;
    TaskIndex v = 0;
    double bytes = 0;     ///< bytes over the whole run, >= 0
    double messages = 0;  ///< point-to-point messages over the whole run, >= 0
    bool operator==(const TaskEdge&) const = default;
};
std::ostream& operator<<(std::ostream& out, const TaskEdge& edge);

/// An undirected graph of communicating tasks: node = process with its compute requirement, edge = traffic of a pair.
/// Immutable; compressed adjacency, O(tasks + edges) memory.
class TaskGraph {
  public:
    struct Neighbour {
        TaskIndex task;
        double bytes;
        double messages;
    };
    /// Limits that a graph from outside must keep.
    static constexpr TaskIndex kMaxTasks = 10'000'000;

    TaskGraph() = default;

    /// `compute[t]` is the requirement of task t (seconds between two communication calls, on a processor of speed 1),
    /// finite and >= 0. Edges need 0 <= u < v < compute.size(), finite weights >= 0, and no pair twice; order is free.
    /// Errors carry a JSON pointer into {"compute":[],"edges":[]}.
    static Result<TaskGraph> make(std::vector<double> compute, std::vector<TaskEdge> edges);

    TaskIndex task_count() const { return static_cast<TaskIndex>(compute_.size()); }
    std::size_t edge_count() const { return edges_.size(); }
    double compute(TaskIndex task) const { return compute_[static_cast<std::size_t>(task)]; }
    std::span<const double> compute() const { return compute_; }
    /// Sorted by (u, v).
    std::span<const TaskEdge> edges() const { return edges_; }
    /// Sorted by task.
    std::span<const Neighbour> neighbours(TaskIndex task) const {
        const auto t = static_cast<std::size_t>(task);
        return {adjacency_.data() + offsets_[t], adjacency_.data() + offsets_[t + 1]};
    }

    bool operator==(const TaskGraph& other) const { return compute_ == other.compute_ && edges_ == other.edges_; }

  private:
    std::vector<double> compute_;
    std::vector<TaskEdge> edges_;
    std::vector<std::size_t> offsets_ = {0};
    std::vector<Neighbour> adjacency_;
};

/// Calls whose messages are missing, by function.
using UnseenCalls = std::map<std::string, std::uint64_t>;
/// Bounds of what is read: functions, bytes of a name, calls.
inline constexpr std::size_t kMaxUnseenFunctions = 256, kMaxFunctionBytes = 128;
inline constexpr std::uint64_t kMaxUnseenCalls = std::uint64_t{1} << 53;
/// Adds `calls` of `function`. Changes nothing and returns false beyond the bounds, for no calls, and for a name that
/// is not printable ASCII or begins or ends with a blank.
bool add_unseen(UnseenCalls& unseen, std::string_view function, std::uint64_t calls);
/// "MPI_Psend_init (4 calls), ..."; empty where nothing is missing.
std::string unseen_text(const UnseenCalls& unseen);

/// The profile of one run of a program: the file format `zbs-model/1`.
struct ApplicationModel {
    std::string program;   ///< as the user started it; empty where unknown
    bool complete = true;  ///< false when the run was cut short (MPI_Abort, a signal)
    TaskGraph graph;       ///< compute in seconds per rank; one task a rank
    UnseenCalls unseen{};  ///< of which `graph` lacks the messages

    bool operator==(const ApplicationModel&) const = default;
};

/// The graph over `tasks` only (renumbered in the order given; all distinct) and its inner edges. O(sum of degrees).
TaskGraph subgraph(const TaskGraph& graph, std::span<const TaskIndex> tasks);

}  // namespace zbs
