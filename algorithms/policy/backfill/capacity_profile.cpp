#include "algorithms/policy/backfill/capacity_profile.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace zbs {

void CapacityProfile::reset(Time origin, std::int32_t capacity) {
    nodes_.clear();
    stretches_.clear();
    unused_.clear();
    root_ = new_node();
    height_ = 0;
    size_ = 1;
    Node& leaf = nodes_[root_];
    leaf.count = 1;
    leaf.time[0] = origin;
    leaf.low[0] = capacity;
}

CapacityProfile::NodeIndex CapacityProfile::new_node() {
    if (unused_.empty()) {
        nodes_.emplace_back();
        return static_cast<NodeIndex>(nodes_.size() - 1);
    }
    const NodeIndex index = unused_.back();
    unused_.pop_back();
    nodes_[index].count = 0;
    return index;
}

/// The entry whose interval holds `at`: the last one that starts at or before it, the first where there is none.
int CapacityProfile::entry_at(const Node& node, Time at) {
    // Searches begin now as a rule, which is at the front.
    if (node.count < 2 || at < node.time[1]) return 0;
    unsigned low = 1, high = static_cast<unsigned>(node.count);
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (node.time[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return static_cast<int>(low);
}

/// Bounds and start of `parent`'s entry from the child's entries.
void CapacityProfile::refresh(Node& parent, int entry, int child_height) {
    const Node& child = nodes_[parent.child[entry]];
    const std::int32_t* highs = child_height == 0 ? child.low : child.high;
    std::int32_t low = child.low[0], high = highs[0];
    for (int i = 1; i < child.count; ++i) {
        low = std::min(low, child.low[i]);
        high = std::max(high, highs[i]);
    }
    parent.low[entry] = low + parent.add[entry];
    parent.high[entry] = high + parent.add[entry];
    parent.time[entry] = child.time[0];
    if (parent.child[entry] < stretches_.size()) stretches_[parent.child[entry]].known = 0;
}

bool CapacityProfile::insert(NodeIndex index, int height, Time at, NodeIndex& sibling) {
    const int entry = entry_at(nodes_[index], at);
    NodeIndex new_child = 0;
    if (height == 0) {
        if (nodes_[index].time[entry] == at) return false;
        ++size_;
    } else {
        if (!insert(nodes_[index].child[entry], height - 1, at, new_child)) return false;
    }
    NodeIndex target = index;
    int place = entry + 1;
    bool split = false;
    if (nodes_[index].count == kFanOut) {
        sibling = new_node();
        split = true;
        Node& low = nodes_[index];
        Node& high = nodes_[sibling];
        const int keep = kFanOut / 2;
        for (int i = keep; i < kFanOut; ++i) {
            high.time[i - keep] = low.time[i];
            high.low[i - keep] = low.low[i];
            high.high[i - keep] = low.high[i];
            high.add[i - keep] = low.add[i];
            high.child[i - keep] = low.child[i];
        }
        low.count = keep;
        high.count = kFanOut - keep;
        if (place > keep) {
            target = sibling;
            place -= keep;
        }
    }
    Node& node = nodes_[target];
    std::copy_backward(node.time + place, node.time + node.count, node.time + node.count + 1);
    std::copy_backward(node.low + place, node.low + node.count, node.low + node.count + 1);
    if (height > 0) {
        std::copy_backward(node.high + place, node.high + node.count, node.high + node.count + 1);
        std::copy_backward(node.add + place, node.add + node.count, node.add + node.count + 1);
        std::copy_backward(node.child + place, node.child + node.count, node.child + node.count + 1);
    }
    ++node.count;
    // `place` > 0: a new entry always follows the one that it was cut from, in the same node.
    if (height == 0) {
        node.time[place] = at;
        node.low[place] = node.low[place - 1];
    } else {
        node.child[place] = new_child;
        node.add[place] = node.add[place - 1];
        refresh(node, place - 1, height - 1);
        refresh(node, place, height - 1);
    }
    return split;
}

void CapacityProfile::insert_breakpoint(Time at) {
    NodeIndex sibling = 0;
    if (!insert(root_, height_, at, sibling)) return;
    const NodeIndex old_root = root_;
    root_ = new_node();
    Node& root = nodes_[root_];
    root.count = 2;
    root.child[0] = old_root;
    root.child[1] = sibling;
    root.add[0] = root.add[1] = 0;
    refresh(root, 0, height_);
    refresh(root, 1, height_);
    ++height_;
}

void CapacityProfile::merge_if_small(Node& parent, int entry, int child_height) {
    const int left = entry + 1 < parent.count ? entry : entry - 1;
    if (left < 0) return;
    const NodeIndex from_index = parent.child[left + 1];
    Node& into = nodes_[parent.child[left]];
    const Node& from = nodes_[from_index];
    if (into.count + from.count > kFanOut / 2) return;
    const std::int32_t difference = parent.add[left + 1] - parent.add[left];
    for (int i = 0; i < from.count; ++i) {
        const int place = into.count + i;
        into.time[place] = from.time[i];
        into.low[place] = from.low[i] + difference;
        if (child_height == 0) continue;
        into.high[place] = from.high[i] + difference;
        into.add[place] = from.add[i] + difference;
        into.child[place] = from.child[i];
    }
    into.count += from.count;
    free_node(from_index);
    const int gone = left + 1;
    std::copy(parent.time + gone + 1, parent.time + parent.count, parent.time + gone);
    std::copy(parent.low + gone + 1, parent.low + parent.count, parent.low + gone);
    std::copy(parent.high + gone + 1, parent.high + parent.count, parent.high + gone);
    std::copy(parent.add + gone + 1, parent.add + parent.count, parent.add + gone);
    std::copy(parent.child + gone + 1, parent.child + parent.count, parent.child + gone);
    --parent.count;
    refresh(parent, left, child_height);
}

/// Precondition: `at` is a breakpoint below this node, and not the only one of the tree.
void CapacityProfile::remove(NodeIndex index, int height, Time at) {
    Node& node = nodes_[index];
    const int entry = entry_at(node, at);
    if (height == 0) {
        ZBS_EXPECTS(node.time[entry] == at);
        std::copy(node.time + entry + 1, node.time + node.count, node.time + entry);
        std::copy(node.low + entry + 1, node.low + node.count, node.low + entry);
        --node.count;
        --size_;
        return;
    }
    const NodeIndex child = node.child[entry];
    remove(child, height - 1, at);
    if (nodes_[child].count == 0) {
        free_node(child);
        std::copy(node.time + entry + 1, node.time + node.count, node.time + entry);
        std::copy(node.low + entry + 1, node.low + node.count, node.low + entry);
        std::copy(node.high + entry + 1, node.high + node.count, node.high + entry);
        std::copy(node.add + entry + 1, node.add + node.count, node.add + entry);
        std::copy(node.child + entry + 1, node.child + node.count, node.child + entry);
        --node.count;
        return;
    }
    refresh(node, entry, height - 1);
    merge_if_small(node, entry, height - 1);
}

void CapacityProfile::remove_breakpoint(Time at) {
    remove(root_, height_, at);
    while (height_ > 0 && nodes_[root_].count == 1) {
        const Node old = nodes_[root_];
        free_node(root_);
        root_ = old.child[0];
        --height_;
        Node& root = nodes_[root_];
        for (int i = 0; i < root.count; ++i) {
            root.low[i] += old.add[0];
            if (height_ == 0) continue;
            root.high[i] += old.add[0];
            root.add[i] += old.add[0];
        }
    }
}

void CapacityProfile::add_range(NodeIndex index, int height, Time upper, Time begin, Time end, std::int32_t delta) {
    Node& node = nodes_[index];
    for (int i = entry_at(node, begin); i < node.count && node.time[i] < end; ++i) {
        const Time next = i + 1 < node.count ? node.time[i + 1] : upper;
        if (next <= begin) continue;
        if (height == 0) {
            node.low[i] += delta;
        } else if (begin <= node.time[i] && next <= end) {
            node.low[i] += delta;
            node.high[i] += delta;
            node.add[i] += delta;
        } else {
            add_range(node.child[i], height - 1, next, begin, end, delta);
            refresh(node, i, height - 1);
        }
    }
}

/// One step instead of two where the values on both sides of breakpoint `at` are equal.
void CapacityProfile::join_at(Time at) {
    NodeIndex index = root_;
    std::int32_t base = 0;
    // The value before `at`: in the same leaf as a rule, else in the last leaf of the nearest left neighbour.
    NodeIndex left = 0;
    std::int32_t left_base = 0;
    int left_height = -1;
    for (int height = height_; height > 0; --height) {
        const Node& node = nodes_[index];
        const int entry = entry_at(node, at);
        if (entry > 0) {
            left = node.child[entry - 1];
            left_base = base + node.add[entry - 1];
            left_height = height - 1;
        }
        base += node.add[entry];
        index = node.child[entry];
    }
    const Node& leaf = nodes_[index];
    const int entry = entry_at(leaf, at);
    if (leaf.time[entry] != at) return;
    std::int32_t before;
    if (entry > 0) {
        before = leaf.low[entry - 1] + base;
    } else {
        if (left_height < 0) return;  // the origin
        for (; left_height > 0; --left_height) {
            const Node& node = nodes_[left];
            left_base += node.add[node.count - 1];
            left = node.child[node.count - 1];
        }
        before = nodes_[left].low[nodes_[left].count - 1] + left_base;
    }
    if (before == leaf.low[entry] + base) remove_breakpoint(at);
}

/// The whole of `add` on one way down, for intervals inside one leaf that stays neither too full nor too small; false
/// where that is not so, nothing changed.
bool CapacityProfile::add_within_leaf(Time begin, Time end, std::int32_t delta) {
    std::array<NodeIndex, 16> path;
    std::array<int, 16> entries;
    NodeIndex index = root_;
    for (int height = height_; height > 0; --height) {
        const Node& node = nodes_[index];
        const int entry = entry_at(node, begin);
        if (entry + 1 < node.count ? end > node.time[entry + 1] : end == kNever) return false;
        path[height] = index;
        entries[height] = entry;
        index = node.child[entry];
    }
    Node& leaf = nodes_[index];
    if (leaf.count > kFanOut - 2 || (height_ > 0 && leaf.count < kFanOut / 4)) return false;

    // What follows `begin` in the leaf: the rest of its step with the new value, the steps inside, the rest of the
    // last.
    int first = entry_at(leaf, begin);
    int last = first;  // the step that `end` cuts or ends
    while (last + 1 < leaf.count && leaf.time[last + 1] < end) ++last;
    bool leaf_ends_here = false;
    if (last + 1 == leaf.count && height_ > 0) {
        // The leaf's last step reaches to the first breakpoint of the next leaf, if there is one.
        Time upper = kNever;
        for (int height = 1; height <= height_; ++height) {
            const Node& node = nodes_[path[height]];
            if (entries[height] + 1 < node.count) {
                upper = node.time[entries[height] + 1];
                break;
            }
        }
        leaf_ends_here = upper == end;
    }
    const bool cut_end = last + 1 < leaf.count ? leaf.time[last + 1] != end : !(leaf_ends_here || end == kNever);
    const auto insert_after = [&leaf, this](int entry, Time at) {
        std::copy_backward(leaf.time + entry + 1, leaf.time + leaf.count, leaf.time + leaf.count + 1);
        std::copy_backward(leaf.low + entry + 1, leaf.low + leaf.count, leaf.low + leaf.count + 1);
        leaf.time[entry + 1] = at;
        leaf.low[entry + 1] = leaf.low[entry];
        ++leaf.count;
        ++size_;
    };
    const auto erase = [&leaf, this](int entry) {
        std::copy(leaf.time + entry + 1, leaf.time + leaf.count, leaf.time + entry);
        std::copy(leaf.low + entry + 1, leaf.low + leaf.count, leaf.low + entry);
        --leaf.count;
        --size_;
    };
    if (cut_end) insert_after(last, end);
    if (leaf.time[first] != begin) {
        insert_after(first, begin);
        ++first;
        ++last;
    }
    for (int i = first; i <= last; ++i) leaf.low[i] += delta;
    if (last + 1 < leaf.count && leaf.low[last + 1] == leaf.low[last]) erase(last + 1);
    if (first > 0 && leaf.low[first] == leaf.low[first - 1]) erase(first);
    for (int height = 1; height <= height_; ++height) refresh(nodes_[path[height]], entries[height], height - 1);
    // Neighbours across the leaf's borders.
    if (first == 0) join_at(begin);
    if (leaf_ends_here) join_at(end);
    return true;
}

void CapacityProfile::add(Time begin, Time end, std::int32_t delta) {
    begin = std::max(begin, nodes_[root_].time[0]);
    if (begin >= end || delta == 0) return;
    if (add_within_leaf(begin, end, delta)) return;
    insert_breakpoint(begin);
    if (end != kNever) insert_breakpoint(end);
    add_range(root_, height_, kNever, begin, end, delta);
    join_at(begin);
    if (end != kNever) join_at(end);
}

void CapacityProfile::forget_before(Time now) {
    while (size_ > 1) {
        NodeIndex index = root_;
        Time next = kNever;  // the start of what comes after the first child on the way down
        for (int height = height_; height > 0; --height) {
            const Node& node = nodes_[index];
            if (node.count > 1) next = node.time[1];
            index = node.child[0];
        }
        const Node& leaf = nodes_[index];
        if (leaf.count > 1) next = leaf.time[1];
        if (next > now) return;
        remove_breakpoint(leaf.time[0]);
    }
}

CapacityProfile::Step CapacityProfile::step_at(Time from) const {
    ZBS_EXPECTS(from >= nodes_[root_].time[0]);
    NodeIndex index = root_;
    std::int32_t base = 0;
    for (int height = height_; height > 0; --height) {
        const Node& node = nodes_[index];
        const int entry = entry_at(node, from);
        base += node.add[entry];
        index = node.child[entry];
    }
    const Node& leaf = nodes_[index];
    const int entry = entry_at(leaf, from);
    return {leaf.time[entry], leaf.low[entry] + base};
}

void CapacityProfile::extremes(NodeIndex index, int height, Time upper, std::int32_t base, Time from, Time until,
                               std::int32_t& low, std::int32_t& high) const {
    const Node& node = nodes_[index];
    for (int i = entry_at(node, from); i < node.count && node.time[i] < until; ++i) {
        const Time next = i + 1 < node.count ? node.time[i + 1] : upper;
        if (height == 0) {
            low = std::min(low, node.low[i] + base);
            high = std::max(high, node.low[i] + base);
        } else if (from <= node.time[i] && next <= until) {
            low = std::min(low, node.low[i] + base);
            high = std::max(high, node.high[i] + base);
        } else {
            extremes(node.child[i], height - 1, next, base + node.add[i], from, until, low, high);
        }
    }
}

std::int32_t CapacityProfile::least_free(Time from, Time until) const {
    ZBS_EXPECTS(from < until && from >= nodes_[root_].time[0]);
    std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = std::numeric_limits<std::int32_t>::min();
    extremes(root_, height_, kNever, 0, from, until, low, high);
    return low;
}

std::int32_t CapacityProfile::most_free(Time from, Time until) const {
    ZBS_EXPECTS(from < until && from >= nodes_[root_].time[0]);
    std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = std::numeric_limits<std::int32_t>::min();
    extremes(root_, height_, kNever, 0, from, until, low, high);
    return high;
}

struct CapacityProfile::Search {
    Room room;
    bool in_room = false;
    Time start{};  ///< where the room that we are in began
    Time end{};    ///< until when it has to last

    void enter(Time at) {
        in_room = true;
        start = std::max(at, room.from);
        end = std::min(start + room.duration, room.open_from);
    }
};

CapacityProfile::KnownLevel CapacityProfile::level_of(const Node& parent, int entry, int child_height,
                                                      std::int32_t wanted) const {
    const auto range = static_cast<std::uint32_t>(parent.high[entry] - parent.low[entry] - 1);
    const int spare = std::bit_width(range) - static_cast<int>(Stretches::kLevelBits);
    const int shift = std::max(spare, 0);
    const auto above = static_cast<std::uint32_t>(wanted - parent.low[entry] - 1);
    const std::uint32_t level = above >> shift;
    const NodeIndex child = parent.child[entry];
    if (child >= stretches_.size()) stretches_.resize(nodes_.size());
    if ((stretches_[child].known >> level & 1) == 0) {
        const std::int32_t served = wanted - static_cast<std::int32_t>(above - (level << shift));
        const Stretches::Level found = find_stretches(child, child_height, served - parent.add[entry]);
        stretches_[child].known |= 1U << level;
        stretches_[child].levels[level] = found;
    }
    return {&stretches_[child].levels[level], child_height == 0 && above == level << shift};
}

/// Bit i is set where entry i of a leaf has `wanted` free.
std::uint32_t CapacityProfile::sufficient(const Node& leaf, std::int32_t wanted) {
    static_assert(kFanOut == 32);
    std::uint32_t bits = 0;
    for (int i = leaf.count; i-- > 0;) bits = bits << 1 | static_cast<std::uint32_t>(leaf.low[i] >= wanted);
    return bits;
}

/// Stretches of a node with `wanted` free, in the frame of its entries.
CapacityProfile::Stretches::Level CapacityProfile::find_stretches(NodeIndex index, int height,
                                                                  std::int32_t wanted) const {
    const Node& node = nodes_[index];
    Time lead_end = node.time[0], begin = kNever;
    Duration longest{};
    const auto close = [&](Time at) {
        if (begin == kNever) return;
        if (begin == node.time[0]) lead_end = at;
        longest = std::max(longest, at - begin);
        begin = kNever;
    };
    if (height == 0) {
        for (std::uint64_t bits = sufficient(node, wanted); bits != 0;) {
            const int first = std::countr_zero(bits);
            const int next = first + std::countr_one(bits >> first);
            begin = node.time[first];
            if (next == node.count) break;
            close(node.time[next]);
            bits = bits >> next << next;
        }
    }
    for (int i = 0; height > 0 && i < node.count; ++i) {
        if (node.low[i] >= wanted) {
            begin = std::min(begin, node.time[i]);
        } else if (node.high[i] < wanted) {
            close(node.time[i]);
        } else {
            const Stretches::Level child = *level_of(node, i, height - 1, wanted).stretches;
            if (child.lead_end > node.time[i]) begin = std::min(begin, node.time[i]);
            close(child.lead_end);
            longest = std::max(longest, child.longest);
            begin = child.trail_begin;
        }
    }
    return {lead_end, begin, longest};
}

/// Since when `wanted`, in the frame of the node's entries, have been free at its end; kNever where they are not.
Time CapacityProfile::trail_begin(NodeIndex index, int height, std::int32_t wanted) const {
    const Node& node = nodes_[index];
    Time begin = kNever;
    for (int i = node.count; i-- > 0;) {
        if (node.low[i] < wanted) {
            if (height == 0 || node.high[i] < wanted) break;
            return std::min(begin, trail_begin(node.child[i], height - 1, wanted - node.add[i]));
        }
        begin = node.time[i];
    }
    return begin;
}

/// Passes an entry that lasts until `end` and in which no room of sufficient length ends; false, nothing changed, where
/// one may.
bool CapacityProfile::pass(const Node& node, int entry, Time end, int child_height, std::int32_t wanted,
                           Search& search) const {
    if (node.time[entry] < search.room.from || end > search.room.open_from) return false;
    Time begin = node.time[entry];
    if (node.high[entry] < wanted) {
        begin = kNever;
    } else if (node.low[entry] < wanted) {
        const auto [level, exact] = level_of(node, entry, child_height, wanted);
        if (search.in_room && level->lead_end >= search.end) return false;
        if (level->longest >= search.room.duration) return false;
        begin = level->trail_begin;
        if (begin != kNever && !exact) {
            if (end == kNever || end - begin >= search.room.duration) return false;
            begin = trail_begin(node.child[entry], child_height, wanted - node.add[entry]);
        }
    }
    search.in_room = false;
    if (begin != kNever) search.enter(begin);
    return true;
}

/// True where the search is over.
bool CapacityProfile::search_leaf(const Node& leaf, std::int32_t wanted, Search& search) {
    int i = leaf.time[0] < search.room.from ? entry_at(leaf, search.room.from) : 0;
    const std::uint64_t free = sufficient(leaf, wanted);
    for (;;) {
        if (!search.in_room) {
            const std::uint64_t ahead = free >> i;
            if (ahead == 0) return false;
            i += std::countr_zero(ahead);
            search.enter(leaf.time[i]);
            if (search.start >= search.room.before) return true;
        }
        i += std::countr_one(free >> i);
        if (i == leaf.count) return leaf.time[i - 1] >= search.end;
        if (leaf.time[i] >= search.end) return true;
        search.in_room = false;
    }
}

/// Walks the steps from left to right, skipping what cannot change the answer; true where the search is over.
bool CapacityProfile::search(NodeIndex index, int height, Time upper, std::int32_t base, Search& search) const {
    const Node& node = nodes_[index];
    const std::int32_t wanted = search.room.processors - base;
    if (height == 0) return search_leaf(node, wanted, search);
    int i = 0;
    if (node.time[0] < search.room.from) i = entry_at(node, search.room.from);
    for (; i < node.count; ++i) {
        if (search.in_room) {
            if (node.time[i] >= search.end) return true;
            if (node.low[i] >= wanted) continue;
        } else {
            if (node.time[i] >= search.room.before) return true;
            if (node.high[i] < wanted) continue;
        }
        const Time end = i + 1 < node.count ? node.time[i + 1] : upper;
        if (pass(node, i, end, height - 1, wanted, search)) continue;
        if (this->search(node.child[i], height - 1, end, base + node.add[i], search)) return true;
    }
    return false;
}

Time CapacityProfile::earliest_start(const Room& room) const {
    ZBS_EXPECTS(room.from >= nodes_[root_].time[0] && room.duration > Duration::zero());
    if (room.from >= room.before) return kNever;
    Search state{.room = room};
    search(root_, height_, kNever, 0, state);
    if (!state.in_room) return kNever;
    return state.start < room.before ? state.start : kNever;
}

Time CapacityProfile::first_with(Time from, std::int32_t processors) const {
    return earliest_start({.from = from, .duration = Duration{1}, .processors = processors});
}

}  // namespace zbs
