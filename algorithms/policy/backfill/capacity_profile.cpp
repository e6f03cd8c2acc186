#include "algorithms/policy/backfill/capacity_profile.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace zbs {
namespace {

/// Index of the last of `count` >= 1 values that is not after `at`, the first where there is none. `time_of(i)` gives
/// value i. Without a branch that depends on them: they are hard to predict.
template <class TimeOf>
std::size_t last_not_after(std::size_t count, Time at, TimeOf&& time_of) {
    std::size_t first = 0;
    while (count > 1) {
        const std::size_t half = count / 2;
        first += half & (std::size_t{0} - static_cast<std::size_t>(time_of(first + half) <= at));
        count -= half;
    }
    return first;
}

}  // namespace

void CapacityProfile::reset(Time origin, std::int32_t capacity) {
    leaves_.resize(1);
    unused_.clear();
    directory_.assign(1, {origin, capacity, capacity, 0, 1, 0});
    std::ranges::fill(leaves_[0].time, kNever);
    leaves_[0].time[0] = origin;
    leaves_[0].free[0] = capacity;
    size_ = 1;
    last_leaf_ = 0;
}

std::size_t CapacityProfile::leaf_at(Time at) const {
    const Entry* const entries = directory_.data();
    const std::size_t count = directory_.size();
    // What is looked up next is in the same leaf or in the next one as a rule.
    for (std::size_t d = last_leaf_; d < count && d < last_leaf_ + 2 && entries[d].begin <= at; ++d)
        if (d + 1 == count || at < entries[d + 1].begin) return last_leaf_ = d;
    return last_leaf_ = last_not_after(count, at, [entries](std::size_t i) { return entries[i].begin; });
}

/// The step of the leaf that holds `at`, the first one where all begin later.
unsigned CapacityProfile::step_of(const Entry& entry, Time at) const {
    // Two rounds of independent comparisons are faster than six that wait for each other.
    static_assert(kCapacity == 64);
    const Time* times = leaves_.data()[entry.leaf].time;
    unsigned eights = 0, step = 0;
    for (unsigned i = 8; i < kCapacity; i += 8) eights += times[i] <= at ? 8 : 0;
    times += eights;
    for (unsigned i = 1; i < 8; ++i) step += times[i] <= at ? 1 : 0;
    return eights + step;
}

/// Sets the bounds of a leaf from its values.
void CapacityProfile::bound(Entry& entry) {
    const std::int32_t* const free = leaves_.data()[entry.leaf].free;
    std::int32_t low = free[0], high = free[0];
    for (unsigned i = 1; i < entry.count; ++i) {
        low = std::min(low, free[i]);
        high = std::max(high, free[i]);
    }
    entry.low = low + entry.add;
    entry.high = high + entry.add;
}

/// Cuts a full leaf in two halves.
void CapacityProfile::split(std::size_t at) {
    constexpr unsigned kKept = kCapacity / 2;
    std::uint32_t index = static_cast<std::uint32_t>(leaves_.size());
    if (unused_.empty()) {
        leaves_.emplace_back();
    } else {
        index = unused_.back();
        unused_.pop_back();
    }
    Entry& left = directory_[at];
    Leaf& from = leaves_[left.leaf];
    Leaf& to = leaves_[index];
    std::ranges::fill(to.time, kNever);
    std::copy(from.time + kKept, from.time + left.count, to.time);
    std::copy(from.free + kKept, from.free + left.count, to.free);
    Entry right{to.time[0], 0, 0, left.add, left.count - kKept, index};
    std::fill(from.time + kKept, from.time + left.count, kNever);
    left.count = kKept;
    bound(left);
    bound(right);
    directory_.insert(directory_.begin() + static_cast<std::ptrdiff_t>(at) + 1, right);
}

/// The breakpoint at `at`, which may be new; then bounds stand as they were.
CapacityProfile::Place CapacityProfile::insert_breakpoint(Time at, bool& inserted) {
    std::size_t place = leaf_at(at);
    if (directory_[place].count == kCapacity) {
        split(place);
        place += directory_[place + 1].begin <= at ? 1 : 0;
    }
    Entry& entry = directory_.data()[place];
    Leaf& leaf = leaves_.data()[entry.leaf];
    unsigned step = step_of(entry, at);
    inserted = leaf.time[step] != at;
    if (!inserted) return {place, step};
    ++step;
    std::memmove(leaf.time + step + 1, leaf.time + step, (entry.count - step) * sizeof(Time));
    std::memmove(leaf.free + step + 1, leaf.free + step, (entry.count - step) * sizeof(std::int32_t));
    leaf.time[step] = at;
    leaf.free[step] = leaf.free[step - 1];
    ++entry.count;
    ++size_;
    return {place, step};
}

void CapacityProfile::erase_leaf(std::size_t at) {
    unused_.push_back(directory_[at].leaf);
    directory_.erase(directory_.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Precondition: it is not the only one.
void CapacityProfile::erase_breakpoint(Place place) {
    Entry& entry = directory_.data()[place.leaf];
    Leaf& leaf = leaves_.data()[entry.leaf];
    --entry.count;
    --size_;
    if (entry.count == 0) return erase_leaf(place.leaf);
    const unsigned step = place.step;
    std::memmove(leaf.time + step, leaf.time + step + 1, (entry.count - step) * sizeof(Time));
    leaf.time[entry.count] = kNever;
    std::memmove(leaf.free + step, leaf.free + step + 1, (entry.count - step) * sizeof(std::int32_t));
    entry.begin = leaf.time[0];
    // Joins two leaves that fill half of one together.
    const std::size_t left = place.leaf + 1 < directory_.size() ? place.leaf : place.leaf - 1;
    if (entry.count < kCapacity / 4 && directory_.size() > 1 &&
        directory_[left].count + directory_[left + 1].count <= kCapacity / 2) {
        Entry& into = directory_[left];
        const Entry& from = directory_[left + 1];
        for (unsigned i = 0; i < from.count; ++i) {
            leaves_[into.leaf].time[into.count + i] = leaves_[from.leaf].time[i];
            leaves_[into.leaf].free[into.count + i] = leaves_[from.leaf].free[i] + from.add - into.add;
        }
        into.count += from.count;
        bound(into);
        erase_leaf(left + 1);
    } else {
        bound(entry);
    }
}

/// One step instead of two where the values on both sides of breakpoint `at` are equal.
void CapacityProfile::join(Time at) {
    const std::size_t place = leaf_at(at);
    const Entry& entry = directory_[place];
    const unsigned step = step_of(entry, at);
    if (place == 0 && step == 0) return;  // the origin
    const Entry& before = step > 0 ? entry : directory_[place - 1];
    const std::int32_t value = leaves_[before.leaf].free[step > 0 ? step - 1 : before.count - 1] + before.add;
    if (value == leaves_[entry.leaf].free[step] + entry.add) erase_breakpoint({place, step});
}

/// The whole of `add` where both ends lie inside one leaf that has place for two more steps, not at its borders; false
/// where that is not so, nothing changed.
bool CapacityProfile::add_within_leaf(Time begin, Time end, std::int32_t delta) {
    const std::size_t place = leaf_at(begin);
    Entry& entry = directory_.data()[place];
    if (entry.count > kCapacity - 2 || entry.count < kCapacity / 4 || begin == entry.begin || end == kNever)
        return false;
    if (place + 1 < directory_.size() && end >= directory_.data()[place + 1].begin) return false;
    Leaf& leaf = leaves_.data()[entry.leaf];
    const unsigned count = entry.count;
    const auto insert = [&](unsigned step, Time at) {
        std::memmove(leaf.time + step + 1, leaf.time + step, (entry.count - step) * sizeof(Time));
        std::memmove(leaf.free + step + 1, leaf.free + step, (entry.count - step) * sizeof(std::int32_t));
        leaf.time[step] = at;
        leaf.free[step] = leaf.free[step - 1];
        ++entry.count;
    };
    const auto erase = [&](unsigned step) {
        --entry.count;
        std::memmove(leaf.time + step, leaf.time + step + 1, (entry.count - step) * sizeof(Time));
        std::memmove(leaf.free + step, leaf.free + step + 1, (entry.count - step) * sizeof(std::int32_t));
        leaf.time[entry.count] = kNever;
    };
    // Steps [first, last) change; `begin` and `end` are steps, or cut one.
    unsigned first = step_of(entry, begin), last = step_of(entry, end);
    const bool cut_begin = leaf.time[first] != begin, cut_end = leaf.time[last] != end;
    if (cut_end) insert(++last, end);
    if (cut_begin) {
        insert(++first, begin);
        ++last;
    }
    for (unsigned i = first; i < last; ++i) leaf.free[i] += delta;
    // A step that was cut differs from the one beside it now; others may have become equal.
    if (!cut_end && leaf.free[last] == leaf.free[last - 1]) erase(last);
    if (!cut_begin && leaf.free[first] == leaf.free[first - 1]) erase(first);
    size_ += entry.count;
    size_ -= count;
    bound(entry);
    return true;
}

void CapacityProfile::add(Time begin, Time end, std::int32_t delta) {
    begin = std::max(begin, directory_[0].begin);
    if (begin >= end || delta == 0) return;
    if (add_within_leaf(begin, end, delta)) return;
    bool new_begin = false, new_end = true;
    Place to{directory_.size(), 0};  // behind the last step that changes
    if (end != kNever) to = insert_breakpoint(end, new_end);
    const std::size_t leaves = directory_.size();
    const Place from = insert_breakpoint(begin, new_begin);
    if (end != kNever && directory_.size() != leaves) {
        to.leaf = leaf_at(end);
        to.step = step_of(directory_[to.leaf], end);
    } else if (end == kNever) {
        to.leaf = directory_.size();
    } else if (new_begin && to.leaf == from.leaf) {
        ++to.step;
    }
    for (std::size_t d = from.leaf; d < directory_.size() && (d < to.leaf || (d == to.leaf && to.step > 0)); ++d) {
        Entry& entry = directory_.data()[d];
        const unsigned first = d == from.leaf ? from.step : 0, last = d == to.leaf ? to.step : entry.count;
        if (first == 0 && last == entry.count) {
            entry.low += delta;
            entry.high += delta;
            entry.add += delta;
            continue;
        }
        std::int32_t* const free = leaves_.data()[entry.leaf].free;
        for (unsigned i = first; i < last; ++i) free[i] += delta;
        bound(entry);
    }
    // A step that was cut differs from the one beside it now; others may have become equal.
    if (!new_begin) join(begin);
    if (!new_end) join(end);
}

void CapacityProfile::forget_before(Time now) {
    std::size_t gone = leaf_at(now);
    for (std::size_t d = 0; d < gone; ++d) {
        size_ -= directory_[d].count;
        unused_.push_back(directory_[d].leaf);
    }
    directory_.erase(directory_.begin(), directory_.begin() + static_cast<std::ptrdiff_t>(gone));
    Entry& entry = directory_[0];
    const unsigned first = step_of(entry, now);
    if (first == 0) return;
    Leaf& leaf = leaves_[entry.leaf];
    std::copy(leaf.time + first, leaf.time + entry.count, leaf.time);
    std::copy(leaf.free + first, leaf.free + entry.count, leaf.free);
    std::fill(leaf.time + entry.count - first, leaf.time + entry.count, kNever);
    entry.count -= first;
    size_ -= first;
    entry.begin = leaf.time[0];
    bound(entry);
}

CapacityProfile::Step CapacityProfile::step_at(Time from) const {
    ZBS_EXPECTS(from >= directory_[0].begin);
    const Entry& entry = directory_[leaf_at(from)];
    const unsigned step = step_of(entry, from);
    return {leaves_[entry.leaf].time[step], leaves_[entry.leaf].free[step] + entry.add};
}

CapacityProfile::Extremes CapacityProfile::extremes(Time from, Time until) const {
    ZBS_EXPECTS(from < until && from >= directory_[0].begin);
    Extremes found{std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()};
    const auto include = [&found](std::int32_t low, std::int32_t high) {
        found.least = std::min(found.least, low);
        found.most = std::max(found.most, high);
    };
    const std::size_t first = leaf_at(from), count = directory_.size();
    for (std::size_t d = first; d < count && directory_.data()[d].begin < until; ++d) {
        const Entry& entry = directory_.data()[d];
        if (d > first && d + 1 < count && directory_.data()[d + 1].begin <= until) {
            include(entry.low, entry.high);
            continue;
        }
        const Leaf& leaf = leaves_.data()[entry.leaf];
        for (unsigned i = d == first ? step_of(entry, from) : 0; i < entry.count && leaf.time[i] < until; ++i)
            include(leaf.free[i] + entry.add, leaf.free[i] + entry.add);
    }
    return found;
}

/// Bit i is set where step i of a leaf has `wanted` free.
std::uint64_t CapacityProfile::sufficient(const Leaf& leaf, unsigned count, std::int32_t wanted) {
    std::uint8_t flags[kCapacity];
    for (unsigned i = 0; i < kCapacity; ++i) flags[i] = leaf.free[i] >= wanted ? 1 : 0;
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < kCapacity; i += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, flags + i, 8);
        if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
        // Gathers the lowest bits of eight bytes in the highest byte of the product.
        bits |= (eight * 0x0102040810204080ULL >> 56) << i;
    }
    return bits & ~std::uint64_t{0} >> (kCapacity - count);
}

Time CapacityProfile::earliest_start(const Room& room) const {
    const Entry* const entries = directory_.data();
    ZBS_EXPECTS(room.from >= entries[0].begin && room.duration > Duration::zero());
    if (room.from >= room.before) return kNever;
    const std::size_t count = directory_.size();
    const std::int32_t wanted = room.processors;
    std::size_t d = leaf_at(room.from);
    std::uint64_t seen = ~std::uint64_t{0} << step_of(entries[d], room.from);  // steps that count
    bool in_room = false;
    Time start{}, end{};  // of the room that we are in: where it began, until when it has to last
    for (; d < count; ++d, seen = ~std::uint64_t{0}) {
        const Entry& entry = entries[d];
        if (in_room) {
            if (entry.begin >= end) return start;
            if (entry.low >= wanted) continue;
        } else {
            if (entry.begin >= room.before) return kNever;
            if (entry.high < wanted) continue;
        }
        const Leaf& leaf = leaves_.data()[entry.leaf];
        std::uint64_t free = sufficient(leaf, entry.count, wanted - entry.add) & seen;
        if (in_room) {
            // The room goes on at the front of this leaf, or ends there.
            const auto ends = static_cast<unsigned>(std::countr_one(free));
            if (leaf.time[ends] >= end) return start;  // `ends` is a step: not all of them are sufficient
            free = free >> ends << ends;
            in_room = false;
        }
        while (free != 0) {
            const auto first = static_cast<unsigned>(std::countr_zero(free));
            start = std::max(leaf.time[first], room.from);
            if (start >= room.before) return kNever;
            end = std::min(start + room.duration, room.open_from);
            const unsigned ends = first + static_cast<unsigned>(std::countr_one(free >> first));
            if (ends == entry.count) {
                in_room = true;
                break;
            }
            if (leaf.time[ends] >= end) {
                last_leaf_ = d;
                return start;
            }
            free = free >> ends << ends;
        }
    }
    return in_room ? start : kNever;
}

Time CapacityProfile::first_with(Time from, std::int32_t processors) const {
    return earliest_start({.from = from, .duration = Duration{1}, .processors = processors});
}

}  // namespace zbs
