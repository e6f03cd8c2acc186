#include "algorithms/mapping/load_repair.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {

RoomIndex::RoomIndex(const ProcessorTree& tree, const LoadBounds& bounds)
    : tree_(tree), leaves_(std::bit_ceil(bounds.most.size())) {
    room_.assign(2 * leaves_, -std::numeric_limits<double>::infinity());
    std::copy(bounds.most.begin(), bounds.most.end(), room_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t i = leaves_; i-- > 1;) room_[i] = std::max(room_[2 * i], room_[2 * i + 1]);
}

void RoomIndex::set(ProcessorIndex p, double room) {
    std::size_t i = leaves_ + static_cast<std::size_t>(p);
    room_[i] = room;
    while ((i /= 2) > 0) {
        const double most = std::max(room_[2 * i], room_[2 * i + 1]);
        if (room_[i] == most) break;
        room_[i] = most;
    }
}

ProcessorIndex RoomIndex::first_in(ProcessorIndex begin, ProcessorIndex end, double size) const {
    const double wanted = size * (1 - 1e-9);
    // Climb from `begin` over whole subtrees to the right, then descend into the first that has room.
    std::size_t i = leaves_ + static_cast<std::size_t>(begin);
    for (;;) {
        if (room_[i] >= wanted) {
            while (i < leaves_) {
                i *= 2;
                if (room_[i] < wanted) ++i;
            }
            const auto found = static_cast<ProcessorIndex>(i - leaves_);
            return found < end ? found : -1;
        }
        while (i % 2 == 1) i /= 2;
        if (i == 0) return -1;
        ++i;
    }
}

ProcessorIndex RoomIndex::nearest(ProcessorIndex p, double size) const {
    if (fits(p, size)) return p;
    for (int depth = tree_.levels() - 1; depth >= 0; --depth) {
        const ProcessorTree::Group& group = tree_.groups()[static_cast<std::size_t>(tree_.group_of(p, depth))];
        const ProcessorIndex found =
            first_in(group.first_processor, group.first_processor + group.processor_count, size);
        if (found >= 0) return found;
    }
    return -1;
}

ProcessorIndex RoomIndex::emptiest() const {
    std::size_t i = 1;
    while (i < leaves_) i = room_[2 * i] >= room_[2 * i + 1] ? 2 * i : 2 * i + 1;
    return static_cast<ProcessorIndex>(i - leaves_);
}

namespace {

class Repair {
  public:
    Repair(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds,
           std::vector<ProcessorIndex>& processor_of)
        : graph_(graph), tree_(tree), bounds_(bounds), processor_of_(processor_of), room_(tree, bounds) {
        for (TaskIndex t = 0; t < graph.task_count(); ++t) room_.take(at(t), size(t));
    }

    bool run() {
        std::vector<ProcessorIndex> overloaded;
        for (ProcessorIndex p = 0; p < tree_.processor_count(); ++p) {
            if (over(p)) overloaded.push_back(p);
        }
        if (overloaded.empty()) return true;
        tasks_on_.resize(static_cast<std::size_t>(tree_.processor_count()));
        for (TaskIndex t = 0; t < graph_.task_count(); ++t) tasks_on_[static_cast<std::size_t>(at(t))].push_back(t);
        bool kept = true;
        for (const ProcessorIndex p : overloaded) kept = unload(p) && kept;
        return kept;
    }

  private:
    ProcessorIndex& at(TaskIndex task) { return processor_of_[static_cast<std::size_t>(task)]; }
    double size(TaskIndex task) const { return bounds_.size(graph_, task); }
    bool over(ProcessorIndex p) const { return room_.room(p) < -1e-9 * bounds_.most[static_cast<std::size_t>(p)]; }

    double added_cost(TaskIndex task, ProcessorIndex to) {
        double sum = 0;
        for (const TaskGraph::Neighbour& n : graph_.neighbours(task)) {
            sum += n.bytes * (tree_.distance(to, at(n.task)) - tree_.distance(at(task), at(n.task)));
        }
        return sum;
    }
    /// Where the task would go: beside its heaviest neighbour with room, or the nearest place.
    ProcessorIndex target(TaskIndex task) {
        ProcessorIndex best = room_.nearest(at(task), size(task));
        double heaviest = -1;
        ProcessorIndex beside = -1;
        for (const TaskGraph::Neighbour& n : graph_.neighbours(task)) {
            if (n.bytes <= heaviest || at(n.task) == at(task) || !room_.fits(at(n.task), size(task))) continue;
            heaviest = n.bytes;
            beside = at(n.task);
        }
        if (beside >= 0 && (best < 0 || added_cost(task, beside) <= added_cost(task, best))) best = beside;
        return best;
    }
    void move(TaskIndex task, ProcessorIndex to) {
        const ProcessorIndex from = at(task);
        room_.give(from, size(task));
        room_.take(to, size(task));
        at(task) = to;
        tasks_on_[static_cast<std::size_t>(to)].push_back(task);
    }

    bool unload(ProcessorIndex p) {
        std::vector<TaskIndex>& mine = tasks_on_[static_cast<std::size_t>(p)];
        std::vector<std::pair<double, TaskIndex>> order;  // added cost per size first, then the larger
        for (const TaskIndex t : mine) {
            if (size(t) <= 0) continue;
            const ProcessorIndex to = target(t);
            if (to >= 0) order.emplace_back(added_cost(t, to) / size(t), t);
        }
        std::sort(order.begin(), order.end());
        for (const auto& [cost, task] : order) {
            if (!over(p)) break;
            if (const ProcessorIndex to = target(task); to >= 0) move(task, to);
        }
        // What did not fit at first may now, and the other way round; swaps are the last resort.
        for (int round = 0; over(p) && round < 10'000 && (move_largest(p) || swap_down(p) || make_room(p)); ++round) {
        }
        std::erase_if(mine, [&](TaskIndex t) { return at(t) != p; });
        return !over(p);
    }

    bool move_largest(ProcessorIndex p) {
        TaskIndex best = -1;
        for (const TaskIndex t : tasks_on_[static_cast<std::size_t>(p)]) {
            if (at(t) == p && size(t) > 0 && (best < 0 || size(t) > size(best)) &&
                room_.fits(room_.emptiest(), size(t)))
                best = t;
        }
        if (best < 0) return false;
        move(best, room_.emptiest());
        return true;
    }

    /// Exchanges a task of `p` for a smaller one of the emptiest processor, with the largest gain that fits there.
    bool swap_down(ProcessorIndex p) {
        const ProcessorIndex q = room_.emptiest();
        if (q == p) return false;
        const double room = room_.room(q);
        double gain = 0;
        TaskIndex out = -1, in = -1;
        for (const TaskIndex t : tasks_on_[static_cast<std::size_t>(p)]) {
            if (at(t) != p) continue;
            if (comparisons_ <= 0) break;  // many equal tasks and a bound they cannot meet
            comparisons_ -= static_cast<std::int64_t>(tasks_on_[static_cast<std::size_t>(q)].size());
            for (const TaskIndex u : tasks_on_[static_cast<std::size_t>(q)]) {
                const double less = size(t) - size(u);
                if (at(u) == q && less > gain && less <= room) {
                    gain = less;
                    out = t;
                    in = u;
                }
            }
        }
        if (out < 0) return false;
        move(out, q);
        move(in, p);
        return true;
    }

    std::int64_t comparisons_ = 20'000'000;  ///< left for swap_down, all processors together

    /// Where only large tasks are too many and only small places are left: sends small tasks of another processor away
    /// until a task of `p` fits there. The emptiest processors first, at most kHosts of them.
    bool make_room(ProcessorIndex p) {
        TaskIndex task = -1;  // the smallest that ends the overload, else the largest
        const double excess = -room_.room(p);
        for (const TaskIndex t : tasks_on_[static_cast<std::size_t>(p)]) {
            if (at(t) != p || size(t) <= 0) continue;
            const bool ends = size(t) >= excess;
            if (task < 0 || (ends ? size(task) < excess || size(t) < size(task) : size(t) > size(task))) task = t;
        }
        if (task < 0) return false;
        std::vector<std::pair<double, ProcessorIndex>> hosts;
        for (ProcessorIndex q = 0; q < tree_.processor_count(); ++q) {
            if (q != p && !over(q) && bounds_.most[static_cast<std::size_t>(q)] >= size(task))
                hosts.emplace_back(-room_.room(q), q);
        }
        const std::size_t count = std::min<std::size_t>(hosts.size(), kHosts);
        std::partial_sort(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(count), hosts.end());
        for (std::size_t i = 0; i < count; ++i) {
            if (host(task, hosts[i].second)) return true;
        }
        return false;
    }
    /// Moves the task to `q` after small tasks there have made room for it; else changes nothing.
    bool host(TaskIndex task, ProcessorIndex q) {
        std::vector<TaskIndex> small;
        for (const TaskIndex u : tasks_on_[static_cast<std::size_t>(q)]) {
            if (at(u) == q && size(u) > 0 && size(u) < size(task)) small.push_back(u);
        }
        std::ranges::sort(small,
                          [&](TaskIndex a, TaskIndex b) { return size(a) != size(b) ? size(a) < size(b) : a < b; });
        small.erase(std::unique(small.begin(), small.end()), small.end());
        const ProcessorIndex from = at(task);
        const double own = room_.room(q);
        std::vector<TaskIndex> sent;
        for (const TaskIndex u : small) {
            if (room_.fits(q, size(task))) break;
            // Neither here, nor where it would be in the way.
            const double hidden = room_.room(q), there = room_.room(from);
            room_.take(q, hidden + 1);
            if (there > 0) room_.take(from, there + 1);
            const ProcessorIndex to = room_.nearest(q, size(u));
            room_.give(q, hidden + 1);
            if (there > 0) room_.give(from, there + 1);
            if (to < 0) break;
            move(u, to);
            sent.push_back(u);
        }
        if (room_.fits(q, size(task))) {
            move(task, q);
            return true;
        }
        for (const TaskIndex u : sent) move(u, q);
        ZBS_EXPECTS(std::abs(room_.room(q) - own) <= 1e-6 * bounds_.most[static_cast<std::size_t>(q)]);
        return false;
    }

    static constexpr std::size_t kHosts = 64;
    const TaskGraph& graph_;
    const ProcessorTree& tree_;
    const LoadBounds& bounds_;
    std::vector<ProcessorIndex>& processor_of_;
    RoomIndex room_;
    std::vector<std::vector<TaskIndex>> tasks_on_;  // with tasks that have left since
};

}  // namespace

bool keep_bounds(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds,
                 std::vector<ProcessorIndex>& processor_of) {
    return Repair(graph, tree, bounds, processor_of).run();
}

}  // namespace zbs
