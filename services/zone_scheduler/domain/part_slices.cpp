// Parts that take turns on the same processors: the zone's side of gang scheduling. Each row of the slice matrix is as
// large as the zone; a part lies in one row with all of its processors, so that its ranks run together.
#include <algorithm>
#include <utility>

#include "services/zone_scheduler/domain/part_service.hpp"

namespace zbs {
namespace {

/// From the push of a column to its epoch: all machines should have it by then.
constexpr Duration kAhead = std::chrono::milliseconds{300};

}  // namespace

std::size_t PartService::physical_count() const { return config_.zone.processor_count(); }

std::vector<bool> PartService::row(const std::vector<bool>& all, std::size_t number) const {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(number * physical_count());
    return {begin, begin + static_cast<std::ptrdiff_t>(physical_count())};
}

/// Rows in which `usable` has room for so many, the fullest first: the fewer rows are in use, the longer each one's
/// turns [DaSilva2000, section 6.3].
std::vector<std::size_t> PartService::rows_with_room(const std::vector<bool>& usable, std::size_t processors) const {
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> rooms;
    for (std::size_t r = 0; r < row_count(); ++r) {
        const std::vector<bool> own = row(usable, r);
        const std::ptrdiff_t free = std::count(own.begin(), own.end(), true);
        if (std::cmp_greater_equal(free, processors)) rooms.emplace_back(free, r);
    }
    std::stable_sort(rooms.begin(), rooms.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::size_t> rows;
    for (const auto& [free, r] : rooms) rows.push_back(r);
    return rows;
}

/// How many rows beside this one have anything in them.
int PartService::other_rows_in_use(const std::vector<bool>& busy, std::size_t number) const {
    int count = 0;
    for (std::size_t r = 0; r < row_count(); ++r) {
        const std::vector<bool> own = row(busy, r);
        count += r != number && std::find(own.begin(), own.end(), true) != own.end();
    }
    return count;
}

/// Tells the machines whose turn it is when, after what runs has changed.
void PartService::share_time() {
    if (slices_ == nullptr || !slices_changed_) return;
    const Result<std::uint64_t> number = store_.next_token();
    if (!number) return log_.warn("slices_not_set", {{"reason", number.error().message}});  // the watch tries again
    slices_changed_ = false;
    std::map<std::size_t, std::map<std::string, std::vector<std::string>>> rows;  // row -> machine -> operations
    for (const auto& [id, part] : parts_) {
        const PartRecord& record = part->record;
        if (record.status.state != PartState::kRunning || record.processors.empty()) continue;
        auto& own = rows[static_cast<std::size_t>(record.processors.front()) / physical_count()];
        const std::vector<std::string> steps = steps_of(record);
        for (std::size_t i = 0; i < steps.size() && i < record.machines.size(); ++i)
            own[record.machines[i]].push_back(steps[i]);
    }
    const Time epoch = clock_.now() + kAhead;
    for (const std::string& machine : config_.agents) {
        SliceColumn column{.number = *number, .epoch = epoch, .slice = config_.slice};
        if (rows.size() > 1) {
            for (auto& [r, machines] : rows) {
                column.rows.push_back(machines[machine]);  // in the same order everywhere; empty where it has none
                column.fillers.insert(column.fillers.end(), machines[machine].begin(), machines[machine].end());
            }
            column.fill = config_.fill_idle_slots ? FillMode::kLts : FillMode::kNone;
            if (!config_.fill_idle_slots) column.fillers.clear();
        }
        slices_->set_column(machine, std::move(column));
    }
    log_.info("slices_set", {{"number", std::to_string(*number)}, {"rows", std::to_string(rows.size())}});
}

}  // namespace zbs
