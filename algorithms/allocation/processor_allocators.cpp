#include "algorithms/allocation/processor_allocators.hpp"

#include "algorithms/base/expects.hpp"

namespace zbs {

void FreeRanges::take(std::int32_t begin, std::int32_t end) {
    auto found = ranges_.upper_bound(begin);
    ZBS_EXPECTS(found != ranges_.begin());
    --found;
    const auto [free_begin, free_end] = *found;
    ZBS_EXPECTS(free_begin <= begin && begin < end && end <= free_end);
    if (free_begin < begin)
        found->second = begin;
    else
        ranges_.erase(found);
    if (end < free_end) ranges_.emplace(end, free_end);
}

void FreeRanges::put(std::int32_t begin, std::int32_t end) {
    const auto after = ranges_.lower_bound(begin);
    ZBS_EXPECTS(after == ranges_.end() || end <= after->first);
    if (after != ranges_.end() && after->first == end) {
        end = after->second;
        ranges_.erase(after);
    }
    const auto next = ranges_.lower_bound(begin);
    if (next != ranges_.begin()) {
        const auto before = std::prev(next);
        ZBS_EXPECTS(before->second <= begin);
        if (before->second == begin) {
            before->second = end;
            return;
        }
    }
    ranges_.emplace(begin, end);
}

Result<void> FirstFitProcessors::fits(const AllocationRequest&) const { return {}; }

std::optional<Placement> FirstFitProcessors::place(JobId, const AllocationRequest& request) {
    Placement placement;
    placement.nodes.reserve(static_cast<std::size_t>(request.processors));
    for (std::int32_t left = request.processors; left > 0;) {
        const auto [begin, end] = *free_.ranges().begin();
        const std::int32_t count = std::min(left, end - begin);
        for (std::int32_t node = begin; node < begin + count; ++node) placement.nodes.push_back(node);
        free_.take(begin, begin + count);
        left -= count;
    }
    return placement;
}

void FirstFitProcessors::take_back(JobId, const Placement& placement) {
    for (std::size_t i = 0; i < placement.nodes.size();) {
        std::size_t end = i + 1;
        while (end < placement.nodes.size() && placement.nodes[end] == placement.nodes[end - 1] + 1) ++end;
        free_.put(placement.nodes[i], placement.nodes[end - 1] + 1);
        i = end;
    }
}

Result<void> ContiguousProcessors::fits(const AllocationRequest&) const { return {}; }

std::optional<Placement> ContiguousProcessors::place(JobId, const AllocationRequest& request) {
    auto chosen = free_.ranges().end();
    const auto length = [](const auto& range) { return range->second - range->first; };
    for (auto range = free_.ranges().begin(); range != free_.ranges().end(); ++range) {
        if (length(range) < request.processors) continue;
        if (chosen == free_.ranges().end() || length(range) < length(chosen)) chosen = range;
        if (choice_ == Choice::kFirst) break;
    }
    if (chosen == free_.ranges().end()) return std::nullopt;
    const std::int32_t begin = chosen->first;
    Placement placement;
    placement.nodes.reserve(static_cast<std::size_t>(request.processors));
    for (std::int32_t i = 0; i < request.processors; ++i) placement.nodes.push_back(begin + i);
    free_.take(begin, begin + request.processors);
    return placement;
}

void ContiguousProcessors::take_back(JobId, const Placement& placement) {
    free_.put(placement.nodes.front(), placement.nodes.back() + 1);
}

}  // namespace zbs
