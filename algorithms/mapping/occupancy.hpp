#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/mapping/trees/max_tree.hpp"
#include "algorithms/model/mapping.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// Communication steps of an average task: 2 x messages / tasks, at least 1.
/// A model holds compute per step but traffic per run; dividing traffic by this makes both "seconds in one step", so
/// they compare without knowing how long the run was [Prabhakar2003, section 3.3 leaves the scale of the two open].
double communication_steps(const TaskGraph& graph);

/// Seconds that `bytes` in `messages` keep a link busy in one step.
inline double link_seconds(const Link& link, double bytes, double messages, double steps) {
    return (bytes / link.bandwidth_Bps + messages * link.delay_s) / steps;
}

/// Occupancy of every resource while tasks are assigned one by one [Prabhakar2003, section 4.4.1]: the sum of what uses
/// it over its capacity, in seconds per step. Resources are processors; each machine's inside (pairs on one machine,
/// different processors); each machine's uplink to its zone's switch (both ends' uplinks carry a pair on two machines
/// of a zone); and each pair of zones. Tasks on one processor talk for free. The papers give every pair of processors
/// an edge of its own; that takes quadratic memory and hides that pairs share links. Memory here: O(tasks + processors
/// + zones squared). Refers to both graphs, which must outlive it.
class OccupancyState {
  public:
    static constexpr ProcessorIndex kUnassigned = -1;

    /// `steps` > 0 as from communication_steps, of the whole application where `graph` is a part of it.
    OccupancyState(const TaskGraph& graph, const ResourceGraph& resources, double steps);

    /// All three: O(degree of the task x log resources).
    void assign(TaskIndex task, ProcessorIndex processor);  ///< precondition: unassigned
    void unassign(TaskIndex task);                          ///< precondition: assigned
    void move(TaskIndex task, ProcessorIndex processor);    ///< precondition: assigned

    ProcessorIndex processor_of(TaskIndex task) const { return processor_of_[static_cast<std::size_t>(task)]; }
    std::int32_t tasks_on(ProcessorIndex processor) const { return users_[static_cast<std::size_t>(processor)]; }
    /// The largest occupancy of any resource, seconds per step.
    double occupancy() const { return load_.max(); }
    /// From here on smooth_occupancy() is kept as well. Precondition: nothing assigned.
    void keep_smooth() { smooth_.emplace(users_.size()); }
    /// See SmoothMax. Precondition: keep_smooth().
    double smooth_occupancy() const { return smooth_->value(); }
    double processor_load(ProcessorIndex processor) const { return load_[static_cast<std::size_t>(processor)]; }

    /// Resources are numbered processors first; which kind a number means stays inside.
    std::size_t bottleneck() const { return load_.argmax(); }
    std::size_t resources_at_least(double seconds) const { return load_.count_at_least(seconds); }
    /// How much of the load of `resource` goes away with the task. O(degree).
    double contribution(TaskIndex task, std::size_t resource) const;

    const TaskGraph& graph() const { return graph_; }
    const ResourceGraph& resources() const { return resources_; }
    double steps() const { return steps_; }
    std::int32_t machine_of(ProcessorIndex processor) const { return machine_of_[static_cast<std::size_t>(processor)]; }
    Mapping mapping() const { return {processor_of_}; }

  private:
    struct PairLoad {
        std::size_t first;
        std::size_t second;  // the same as first where one resource carries the pair
        double seconds;
    };
    PairLoad pair_load(ProcessorIndex p, ProcessorIndex q, const TaskGraph::Neighbour& traffic) const;
    void add(std::size_t resource, double seconds);
    void remove(std::size_t resource, double seconds);
    void set(std::size_t resource, double seconds);

    const TaskGraph& graph_;
    const ResourceGraph& resources_;
    double steps_;
    std::vector<std::int32_t> machine_of_;  // processor -> machine, numbered over all zones
    std::size_t inside_begin_ = 0;
    std::size_t uplink_begin_ = 0;
    std::size_t zone_pair_begin_ = 0;
    std::vector<ProcessorIndex> processor_of_;
    std::vector<std::int32_t> users_;  // by resource; a resource without users has load 0 exactly, whatever was rounded
    MaxTree load_;
    std::optional<SmoothMax> smooth_;
};

/// Judges a mapping from scratch, for every task assigned. `cost` counts a pair's distance as the delay of its link
/// over the smallest positive delay of all links, at least 1, and 0 on one processor. O(edges + processors + zones
/// squared). Precondition: one processor in range for every task.
MappingReport evaluate(const TaskGraph& graph, const ResourceGraph& resources, const Mapping& mapping);
/// The same for a part of an application: `steps` > 0 are those of the whole.
MappingReport evaluate(const TaskGraph& graph, const ResourceGraph& resources, const Mapping& mapping, double steps);

}  // namespace zbs
