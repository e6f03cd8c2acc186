#include "algorithms/queue/processor_calendar.hpp"

#include <algorithm>

#include "algorithms/base/expects.hpp"

namespace zbs {

const ProcessorCalendar::Promise* ProcessorCalendar::find(const PartId& id) const {
    const auto at = promises_.find(id);
    return at == promises_.end() ? nullptr : &at->second;
}

std::vector<bool> ProcessorCalendar::busy(const Interval& when, const std::set<PartId>& without,
                                          bool by_estimate) const {
    std::vector<bool> busy(count_, false);
    for (const auto& [id, promise] : promises_) {
        if (!promise.taken(by_estimate).meets(when) || without.contains(id)) continue;
        for (const std::int32_t p : promise.processors) busy[static_cast<std::size_t>(p)] = true;
    }
    return busy;
}

std::vector<Duration> ProcessorCalendar::changes(Duration from, Duration length, const std::set<PartId>& without,
                                                 bool by_estimate) const {
    std::vector<Duration> at = {from};
    for (const auto& [id, promise] : promises_) {
        if (without.contains(id)) continue;
        const Duration end = promise.taken(by_estimate).end;
        if (end > from) at.push_back(end);  // free from here on
        if (promise.when.begin - length >= from) at.push_back(promise.when.begin - length + Duration{1});  // too late
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    return at;
}

}  // namespace zbs
