#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"

namespace zbs {

/// A complete mapping and what it is worth, small is good; kept up to date while tasks move. One implementation for
/// each Objective on zones, machines and processors, and on a tree of processors. Refers to the graph and the
/// processors, which must outlive it. Not for several threads at once.
///
/// In debug builds (ZBS_CHECK_DELTAS) value() is compared with recompute() every so many changes: O(1) a change.
class ObjectiveState {
  public:
    virtual ~ObjectiveState() = default;

    virtual double value() const = 0;
    /// The same from scratch, by other code. O(edges + processors).
    virtual double recompute() const = 0;

    void move(TaskIndex task, ProcessorIndex to);

    /// How many processors or links are as loaded as value() says; 1 for a sum. Two mappings of equal value differ in
    /// how far they are from a better one.
    virtual std::size_t bottlenecks() const { return 1; }
    /// Falls when large loads fall, although the largest stays: what a search climbs down. value() for a sum.
    virtual double smooth() const { return value(); }
    /// Tasks that load the bottleneck (that add to a sum), those that load it most first. O(tasks log tasks + edges).
    virtual std::vector<TaskIndex> critical_tasks() const = 0;

    ProcessorIndex processor_of(TaskIndex task) const { return processor_of_[static_cast<std::size_t>(task)]; }
    std::span<const ProcessorIndex> processors() const { return processor_of_; }
    const TaskGraph& graph() const { return graph_; }
    ProcessorIndex processor_count() const { return processor_count_; }

  protected:
    ObjectiveState(const TaskGraph& graph, ProcessorIndex processors, std::vector<ProcessorIndex> processor_of)
        : graph_(graph), processor_count_(processors), processor_of_(std::move(processor_of)) {}
    /// Announces a move from `from`, before processor_of changes.
    virtual void apply(TaskIndex task, ProcessorIndex from, ProcessorIndex to) = 0;

  private:
    void check();

    const TaskGraph& graph_;
    ProcessorIndex processor_count_;
    std::vector<ProcessorIndex> processor_of_;
    std::int64_t unchecked_ = 0;
    double largest_ = 0;  // value seen, debug builds only
};

/// Traffic as the time it keeps the slowest link busy (bytes / bandwidth + messages x delay; without `weigh_messages`:
/// the bytes), and the tree whose distances are the times of an average message over the links: what `cost` is on
/// zones.
struct WeighedTraffic {
    TaskGraph graph;  ///< `bytes` are seconds, or bytes
    ProcessorTree tree;
    double seconds = 1;  ///< that traffic of 1 over the distance 1 takes
};
WeighedTraffic weigh_traffic(const TaskGraph& graph, const ResourceGraph& resources, bool weigh_messages);

/// Precondition of all: one processor in range for every task. On zones:
/// - occupancy: as `evaluate` has it, seconds per step;
/// - cost: sum over edges of WeighedTraffic's traffic x distance, messages weighed;
/// - time: predicted_time().
std::unique_ptr<ObjectiveState> make_objective(Objective objective, const TaskGraph& graph,
                                               const ResourceGraph& resources,
                                               std::vector<ProcessorIndex> processor_of);
/// On a tree: occupancy and cost as `evaluate_on_tree` has them; time with links over which a byte takes `distance`
/// seconds and tasks of one step.
std::unique_ptr<ObjectiveState> make_objective(Objective objective, const TaskGraph& graph, const ProcessorTree& tree,
                                               std::vector<ProcessorIndex> processor_of);

/// Run time by the replay model of algorithms/sim, less what overlaps and what waits in turn: each processor computes
/// all steps of its tasks and pays for each of their messages, delay and bytes / bandwidth of the link of the pair, at
/// both ends; the processor that takes longest is the prediction, in seconds. Exact where every step is alike, all
/// processors are in step and nothing is computed while a message is under way; a chain of tasks that wait for each
/// other takes longer. Steps are communication_steps(). Tasks on one processor talk for free. O(edges + processors).
double predicted_time(const TaskGraph& graph, const ResourceGraph& resources,
                      std::span<const ProcessorIndex> processor_of);

}  // namespace zbs
