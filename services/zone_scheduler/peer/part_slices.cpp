// Parts that take turns on the same processors: the zone's side of gang scheduling. Each row of the slice matrix is as
// large as the zone; a part lies in one row with all of its processors, so that its ranks run together.
#include <algorithm>
#include <utility>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {
namespace {

/// From the push of a column to its epoch: all machines should have it by then.
constexpr Duration kAhead = std::chrono::milliseconds{300};
constexpr Duration kMinAhead = std::chrono::milliseconds{100};

}  // namespace

std::optional<int> PartService::slice_of(const PartRecord& part) const {
    if (config_.slots == 1 || part.processors.empty()) return std::nullopt;
    return static_cast<int>(ledger_.row_of(part.processors.front()));
}

/// What runs: row -> machine -> operations. A machine has its entry in a row only where it has something there.
PartService::RunningRows PartService::running_rows() const {
    RunningRows rows;
    for (const auto& [id, part] : parts_) {
        const PartRecord& record = part->record;
        if (record.status.state != PartState::kRunning || record.processors.empty()) continue;
        auto& own = rows[ledger_.row_of(record.processors.front())];
        const std::vector<StepId> steps = steps_of(record);
        for (std::size_t i = 0; i < steps.size() && i < record.machines.size(); ++i)
            own[record.machines[i]].push_back(steps[i]);
    }
    return rows;
}

/// Of the rows that run, in their order. What is left over goes to them in proportion, as agents divide the period.
std::vector<int> PartService::running_shares(const RunningRows& rows) const {
    std::map<std::size_t, int> by_row;
    for (const auto& [id, part] : parts_) {
        const PartRecord& record = part->record;
        if (record.status.state != PartState::kRunning || record.processors.empty()) continue;
        int& share = by_row[ledger_.row_of(record.processors.front())];
        share = std::max(share, share_of(record.request.share, record.request.user));
    }
    std::vector<int> shares;
    for (const auto& [row, machines] : rows) shares.push_back(by_row.at(row));
    return shares;
}

SliceColumn PartService::column_of(const MachineName& machine, const RunningRows& rows) const {
    SliceColumn column{.epoch = slices_epoch_, .slice = config_.slice};
    if (rows.size() < 2 || !takes_turns()) return column;
    const bool fill = config_.sharing == SharingMode::kConcurrentGang;
    std::size_t steps = 0;
    for (const auto& [r, machines] : rows) {
        const auto here = machines.find(machine);
        column.rows.push_back(here == machines.end() ? std::vector<StepId>{} : here->second);
        if (fill) column.fillers.insert(column.fillers.end(), column.rows.back().begin(), column.rows.back().end());
        steps += column.rows.back().size();
    }
    column.fill = fill ? FillMode::kLts : FillMode::kNone;
    if (steps > limits::kMaxNodeSteps) {
        log_.warn("slices_too_large", {{"machine", machine}, {"steps", std::to_string(steps)}});
        return {.epoch = slices_epoch_, .slice = config_.slice};  // all run together there
    }
    if (config_.sharing == SharingMode::kShares)
        column.shares = running_shares(rows);  // one period is all rows' turns: they stay in their order
    else
        std::rotate(column.rows.begin(),
                    column.rows.begin() + static_cast<std::ptrdiff_t>(slices_turn_ % column.rows.size()),
                    column.rows.end());
    return column;
}

/// The slices go on where the last columns had them: whoever starts and ends what he likes cannot give one row more
/// turns than another.
void PartService::begin_turns(Time now) {
    const bool is_first = slices_epoch_ == Time{};
    const std::int64_t turns = is_first ? 0 : (now + kAhead - slices_epoch_) / config_.slice + 1;
    slices_epoch_ = is_first ? now + kAhead : slices_epoch_ + turns * config_.slice;
    slices_turn_ += static_cast<std::uint64_t>(turns);
}

/// Sends the machines their columns after a change of the running steps.
void PartService::share_time() {
    if (slices_ == nullptr) return;
    see_weights();
    if (!slices_changed_ || (config_.slots == 1 && slices_sent_)) return;
    const Time now = clock_.now();
    const bool is_pending = slices_epoch_ > now;  // the last ones are not in force yet: these come in their place
    if (is_pending && slices_epoch_ - now < kMinAhead) {
        clock_.after(kMinAhead, [this] { share_time(); });
        return;
    }
    const Result<std::uint64_t> number = store_.next_token();
    if (!number) return log_.warn("slices_not_set", {{"reason", number.error().message}});
    slices_changed_ = false;
    slices_sent_ = true;
    if (!is_pending) begin_turns(now);
    const RunningRows rows = running_rows();
    for (const MachineName& machine : config_.agents) {
        SliceColumn column = column_of(machine, rows);
        column.number = *number;
        slices_->set_column(machine, std::move(column));
        ShareTable table = shares_of(machine);
        table.number = *number;
        slices_->set_shares(machine, std::move(table));
    }
    log_.info("slices_set",
              {{"number", std::to_string(*number)}, {"rows", std::to_string(rows.size())}, {"by", sharing_mode()}});
}

}  // namespace zbs
