#pragma once
#include <vector>

#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// The room left on every processor, and the nearest place for a task. All O(log processors) per level of the tree.
class RoomIndex {
  public:
    /// Refers to the tree, which must outlive it.
    RoomIndex(const ProcessorTree& tree, const LoadBounds& bounds);

    double room(ProcessorIndex p) const { return room_[leaves_ + static_cast<std::size_t>(p)]; }
    void take(ProcessorIndex p, double size) { set(p, room(p) - size); }
    void give(ProcessorIndex p, double size) { set(p, room(p) + size); }
    bool fits(ProcessorIndex p, double size) const { return room(p) >= size * (1 - 1e-9); }
    /// The first processor with room for `size` in the smallest group around `p` that has one; -1 for none.
    ProcessorIndex nearest(ProcessorIndex p, double size) const;
    /// The processor with the most room.
    ProcessorIndex emptiest() const;

  private:
    void set(ProcessorIndex p, double room);
    ProcessorIndex first_in(ProcessorIndex begin, ProcessorIndex end, double size) const;

    const ProcessorTree& tree_;
    std::size_t leaves_ = 1;
    std::vector<double> room_;  // a heap of maxima over pairs; processors are the leaves
};

/// Moves tasks from processors above their bound to near ones with room, those first whose move costs least, and swaps
/// a large task for a small one where nothing fits; last, small tasks elsewhere give way to a large one. Leaves a
/// mapping within its bounds as it is. False where some processor stays above its bound. Cost O(degrees of the tasks on
/// overloaded processors x levels), plus the swaps.
bool keep_bounds(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds,
                 std::vector<ProcessorIndex>& processor_of);

}  // namespace zbs
