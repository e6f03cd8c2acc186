#include "services/zone_scheduler/peer/time_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "algorithms/elmer/nice_level.hpp"
#include "algorithms/policy/scojo.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

/// From the push of a column to its epoch: all machines should have it by then.
constexpr Duration kAhead = std::chrono::milliseconds{300};
constexpr Duration kMinAhead = std::chrono::milliseconds{100};
constexpr int kMaxWeight = 10'000;
using Sharing = ZoneState::Sharing;

}  // namespace

bool TimeSharing::takes_turns() const {
    return queue_.sharing() != Sharing::kPriority && (queue_.sharing() != Sharing::kShare || !has_weights_);
}

std::string TimeSharing::mode() const {
    if (queue_.sharing() == Sharing::kSpace) return {};
    if (takes_turns()) return "turns";
    return queue_.sharing() == Sharing::kPriority ? "nice levels" : "weights";
}

/// Weights count only where all machines have them: else the ranks of one part would run at different times.
void TimeSharing::see_weights() {
    if (queue_.sharing() != Sharing::kShare) return;
    bool all_have = true;
    for (const MachineName& machine : config_.agents) {
        const std::optional<bool> has = slices_->has_weights(machine);
        if (!has) return;  // until all agents have registered it stays as it is
        all_have = all_have && *has;
    }
    if (std::exchange(has_weights_, all_have) != has_weights_) changed_ = true;
}

int share_of(const ZoneConfig& config, const std::optional<int>& asked, const Caller& user) {
    const int usual = std::max<int>(Scojo::default_share(config.slots), kMinShare);
    if (!asked) return usual;
    return user.organisation == config.organisation ? *asked : std::min(*asked, usual);
}

/// By the policy of the queue, if it gives shares; else what it asks for.
int TimeSharing::share_of_part(const PartRecord& part) const {
    const auto given = queue_.turns().shares.find(part.request.id);
    if (given != queue_.turns().shares.end()) return std::max(given->second, 1);
    return share_of(config_, part.request.share, part.request.user);
}

void TimeSharing::add_to(Row& row, const PartRecord& part) const {
    row.share = std::max(row.share, share_of_part(part));
    const ApplicationId& application = part.request.application;
    if (!part.request.outside.empty() && (!row.across || application < *row.across)) row.across = application;
    const std::vector<StepId> steps = step_ids(part.operation, part.proxies);
    for (std::size_t i = 0; i < steps.size() && i < part.machines.size(); ++i)
        row.steps[part.machines[i]].push_back(steps[i]);
}

/// Those of the slice matrix. Where there is none, a row for each part with a share, and one for all that were not
/// stopped. A part that the policy has not seen yet has a row of its own. First the rows of applications over several
/// zones, in the order of these: so the slices of such a one are the same in all zones with as many rows.
TimeSharing::Rows TimeSharing::running_rows() const {
    const Turns& turns = queue_.turns();
    std::map<PartId, const PartRecord*> running;
    for (const PartRecord* record : running_())
        if (!queue_.is_stopped(record->request.id)) running.emplace(record->request.id, record);
    Rows rows;
    std::set<PartId> placed;  // maybe in several rows
    for (const std::vector<PartId>& parts : turns.rows) {
        Row row;
        for (const PartId& id : parts)
            if (const auto runs = running.find(id); runs != running.end()) {
                add_to(row, *runs->second);
                placed.insert(id);
            }
        if (!row.steps.empty()) rows.push_back(std::move(row));
    }
    std::erase_if(running, [&](const auto& known) { return placed.contains(known.first); });
    const bool is_apart = queue_.sharing() != Sharing::kSpace;
    if (!is_apart && !running.empty()) rows.emplace_back();
    for (const auto& [id, record] : running) {
        if (is_apart) rows.emplace_back();
        add_to(rows.back(), *record);
    }
    std::ranges::stable_sort(rows, {}, [](const Row& row) { return std::pair(!row.across, row.across); });
    return rows;
}

SliceColumn TimeSharing::column_of(const MachineName& machine, const Rows& rows) const {
    SliceColumn column{.epoch = epoch_, .slice = slice_};
    // What was stopped is in no row; one row alone never gives way.
    const bool is_needed = rows.size() > 1 || !queue_.turns().stopped.empty();
    if (!is_needed || !takes_turns()) return column;
    const bool fill = config_.concurrent_gang && queue_.sharing() == Sharing::kTime;
    const bool by_shares = queue_.sharing() == Sharing::kShare;
    std::size_t steps = 0;
    for (const Row& row : rows) {
        const auto here = row.steps.find(machine);
        column.rows.push_back(here == row.steps.end() ? std::vector<StepId>{} : here->second);
        if (by_shares) column.shares.push_back(row.share);
        for (const StepId& step : column.rows.back())
            if (fill && std::ranges::find(column.fillers, step) == column.fillers.end()) column.fillers.push_back(step);
        steps += column.rows.back().size();
    }
    if (rows.empty()) column.rows.emplace_back();  // what was stopped stays so
    column.fill = fill ? FillMode::kLts : FillMode::kNone;
    if (steps > limits::kMaxNodeSteps) {
        log_.warn("slices_too_large", {{"machine", machine}, {"steps", std::to_string(steps)}});
        return {.epoch = epoch_, .slice = slice_};  // all run together there
    }
    if (!by_shares)  // where one period is all rows' turns, and they stay in their order
        std::rotate(column.rows.begin(), column.rows.begin() + static_cast<std::ptrdiff_t>(turn_ % column.rows.size()),
                    column.rows.end());
    return column;
}

/// Slices begin at multiples of their length since 1970, so at the same instants in all zones whose clocks agree. And
/// they go on where the last columns had them: whoever starts and ends what he likes cannot give one row more turns.
void TimeSharing::begin_turns(Time now) {
    turn_ = static_cast<std::uint64_t>(((now + kAhead).time_since_epoch() + slice_ - Duration{1}) / slice_);
    epoch_ = Time{static_cast<std::int64_t>(turn_) * slice_};
}

/// What the policy knows, so that after a restart each part is in the same row.
Result<void> TimeSharing::store_queue() const {
    if (!queue_.shares()) return {};
    QueueContinued state = queue_.continued();
    const Time at = clock_.now() - (clock_.steady_now() - state.at);
    return store_.queues().save({config_.queue, at, std::move(state), partition_});
}

void TimeSharing::send() {
    if (slices_ == nullptr) return;
    see_weights();
    if (turns_ != queue_.turns()) changed_ = true;
    if (!changed_ || (!queue_.shares() && sent_)) return;
    const Time now = clock_.now();
    const bool is_pending = epoch_ > now;  // the last ones are not in force yet: these come in their place
    if (is_pending && epoch_ - now < kMinAhead) {
        clock_.after(kMinAhead, [this] { send(); });
        return;
    }
    if (auto stored = store_queue(); !stored) return log_.warn("slices_not_set", {{"reason", stored.error().message}});
    const Result<std::uint64_t> number = store_.next_token();
    if (!number) return log_.warn("slices_not_set", {{"reason", number.error().message}});
    changed_ = false;
    sent_ = true;
    turns_ = queue_.turns();
    const Duration slice = turns_.slice > Duration{0} ? turns_.slice : config_.slice;
    if (std::exchange(slice_, slice) != slice || !is_pending) begin_turns(now);
    const Rows rows = running_rows();
    for (const MachineName& machine : config_.agents) {
        SliceColumn column = column_of(machine, rows);
        column.number = *number;
        slices_->set_column(machine, std::move(column));
        ShareTable table = shares_of(machine);
        table.number = *number;
        slices_->set_shares(machine, std::move(table));
    }
    log_.info("slices_set",
              {{"number", std::to_string(*number)}, {"rows", std::to_string(rows.size())}, {"by", mode()}});
}

/// Of the parts that run, by processor of each: 0 where it goes first. The higher priority does, then the earlier row
/// of the policy's matrix, then who came first.
std::map<PartId, std::vector<int>> TimeSharing::levels() const {
    std::map<PartId, std::size_t> row_of;
    for (std::size_t row = 0; row < queue_.turns().rows.size(); ++row)
        for (const PartId& id : queue_.turns().rows[row]) row_of.emplace(id, row);
    std::vector<const PartRecord*> order = running_();
    std::ranges::sort(order, {}, [&](const PartRecord* record) {
        const bool own = record->home_caller.organisation == config_.organisation;
        const int priority = own ? record->request.priority : std::min(record->request.priority, kUsualPriority);
        const auto row = row_of.find(record->request.id);
        return std::tuple(-priority, row == row_of.end() ? queue_.turns().rows.size() : row->second,
                          record->status.token);
    });
    std::map<PartId, std::vector<int>> levels;
    std::vector<int> above(queue_.row_size(), 0);
    for (const PartRecord* record : order)
        for (const std::int32_t p : record->processors)
            levels[record->request.id].push_back(
                std::min(above[static_cast<std::size_t>(p) % above.size()]++, config_.slots - 1));
    return levels;
}

/// Nice levels or weights of the steps that run on a machine. A control group's weight is divided among the processors
/// that it uses, so it is the share times these.
ShareTable TimeSharing::shares_of(const MachineName& machine) const {
    ShareTable table;
    if (takes_turns()) return table;
    const bool by_priority = queue_.sharing() == Sharing::kPriority;
    const std::map<PartId, std::vector<int>> levels =
        by_priority ? this->levels() : std::map<PartId, std::vector<int>>{};
    double largest = kMaxWeight;
    std::vector<double> weights;
    for (const PartRecord* record : running_()) {
        int level = 0, processors = 0;
        const std::vector<RankPlace> places = processors_in(record->status.assignment);
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i].machine != machine) continue;
            ++processors;
            if (by_priority) level = std::max(level, levels.at(record->request.id)[i]);
        }
        const auto here = std::count(record->machines.begin(), record->machines.end(), machine);
        const std::vector<StepId> steps = step_ids(record->operation, record->proxies);
        for (std::size_t i = 0; i < steps.size() && i < record->machines.size(); ++i) {
            if (record->machines[i] != machine) continue;
            table.shares.push_back({.step_id = steps[i], .weight = {}, .nice = {}});
            if (by_priority) table.shares.back().nice = elmer::nice_level(level, config_.slots);
            weights.push_back(static_cast<double>(share_of_part(*record)) * processors / static_cast<double>(here));
            largest = std::max(largest, weights.back());
        }
    }
    if (!by_priority)
        for (std::size_t i = 0; i < weights.size(); ++i)
            table.shares[i].weight = std::max(1, static_cast<int>(std::lround(weights[i] * kMaxWeight / largest)));
    if (table.shares.size() > limits::kMaxNodeSteps) {
        log_.warn("shares_too_large", {{"machine", machine}, {"steps", std::to_string(table.shares.size())}});
        table.shares.clear();  // all are as without there
    }
    return table;
}

}  // namespace zbs
