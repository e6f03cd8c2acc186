#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/queue/zone_queue.hpp"

// The inside of `ZoneQueue`: for its own sources only.
namespace zbs {

inline Time time_at(Duration steady) { return Time{steady}; }

/// The processors free for all of `when` that the part may use, by number.
inline std::vector<std::int32_t> room_in(const ProcessorCalendar& calendar, const ProcessorCalendar::Interval& when,
                                         const std::vector<bool>* usable) {
    const std::vector<bool> busy = calendar.busy(when);
    std::vector<std::int32_t> free;
    for (std::size_t p = 0; p < busy.size(); ++p)
        if (!busy[p] && (usable == nullptr || (*usable)[p])) free.push_back(static_cast<std::int32_t>(p));
    return free;
}

/// The zone as a policy sees it.
struct ZoneQueue::View {
    ZoneState::Sharing sharing;
    std::int32_t level;
    bool stops;
    ZoneState state;
    std::map<PartId, JobId> jobs{};  ///< that wait or run there
    std::map<JobId, PartId> parts{};

    View(std::size_t processors, const Policy& policy);
    void submit(const PartId& id, const Job& job);
    /// Precondition: the state takes the event.
    void apply(Time at, const ZoneEvent& event);
    TraceDiagram diagram() const;
};

/// One decision in the making.
struct ZoneQueue::Round {
    Duration now;
    const UsableProcessors& usable;
    std::vector<Entry*> order;
    ProcessorCalendar calendar;  ///< with the starts of this decision and the promises of who was set aside
    std::size_t row_size;
    std::set<PartId> started{}, aside{};
    std::map<PartId, Duration> expected{};
    std::map<PartId, WaitsFor> reason{};

    const std::vector<bool>* usable_by(const PartId& id) const {
        const auto found = usable.find(id);
        return found == usable.end() ? nullptr : &found->second;
    }
    ProcessorCalendar::Interval from(Duration start, const Entry& entry) const {
        return {start, start + entry.part.length};
    }
    /// Processors of the first row that has enough of them from `start` on, all of it; none where there is no such row.
    std::vector<std::int32_t> find_row(const Entry& entry, Duration start) const {
        return find_row(entry, start, entry.part.length);
    }
    std::vector<std::int32_t> find_row(const Entry& entry, Duration start, Duration length) const {
        const std::vector<std::int32_t> room = room_in(calendar, {start, start + length}, usable_by(entry.part.id));
        for (auto first = room.begin(); first != room.end();) {
            const auto row = *first / static_cast<std::int32_t>(row_size);
            const auto last = std::find_if(
                first, room.end(), [&](std::int32_t p) { return p / static_cast<std::int32_t>(row_size) != row; });
            if (last - first >= entry.part.processors) return {first, last};
            first = last;
        }
        return {};
    }
    /// False where there is no room for it at `start`.
    bool take(const Entry& entry, Duration start) {
        std::vector<std::int32_t> room = find_row(entry, start);
        if (room.empty()) return false;
        room.resize(static_cast<std::size_t>(entry.part.processors));
        const ProcessorCalendar::Interval when = from(start, entry);
        calendar.set(entry.part.id, {std::move(room), when, when.end});
        return true;
    }
    /// Promises it the earliest start; `kNoStart` where there is none.
    Duration take_first(const Entry& entry) {
        for (const Duration start : calendar.changes(now, entry.part.length))
            if (take(entry, start)) return start;
        return kNoStart;
    }
    bool may_ever(const Entry& entry) const {
        const std::vector<bool>* mask = usable_by(entry.part.id);
        if (mask == nullptr) return true;
        return std::count(mask->begin(), mask->begin() + static_cast<std::ptrdiff_t>(row_size), true) >=
               entry.part.processors;
    }
};

}  // namespace zbs
