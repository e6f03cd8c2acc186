#include "services/node_agent/domain/slice_switcher.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/gang/local_scheduler.hpp"

namespace zbs {
namespace {

constexpr Duration kWarnEvery = std::chrono::seconds{10};

/// How often an occupied slot is looked at for whether it is idle.
Duration check_interval(Duration slice) {
    return std::clamp(slice / 10, Duration{std::chrono::milliseconds{5}}, Duration{std::chrono::milliseconds{100}});
}

/// After the begin of a slice: what waited before it was resumed waits again by then, if it still has to.
constexpr Duration kFirstCheck = std::chrono::milliseconds{1};

/// From one multiple of `length` to the next; also before zero.
std::int64_t whole(Duration since, Duration length) { return since / length - (since % length < Duration{0} ? 1 : 0); }

/// Within the period, each row's turn in proportion to its share.
SliceView find_share(const SliceColumn& column, Time now) {
    ZBS_EXPECTS(column.shares.size() == column.rows.size());
    const std::int64_t period = whole(now - column.epoch, column.slice);
    const Time begin = column.epoch + period * column.slice;
    const std::int64_t all = std::accumulate(column.shares.begin(), column.shares.end(), std::int64_t{0});
    SliceView view;
    std::int64_t until = 0;  // in shares, of the turn that is looked at
    for (;; ++view.row) {
        until += column.shares[view.row];
        view.next = begin + until * column.slice / all;
        if (view.next > now) break;
    }
    view.slice = period * static_cast<std::int64_t>(column.rows.size()) + static_cast<std::int64_t>(view.row);
    view.step_ids = column.rows[view.row];
    return view;
}

}  // namespace

void SliceSwitcher::set_column(SliceColumn column) {
    if (column.epoch > clock_.now())
        next_ = std::move(column);
    else {
        active_ = std::move(column);
        next_.reset();
        slice_.reset();
    }
    wake();
}

void SliceSwitcher::join(const StepId& step_id, bool may_be_suspended) {
    suspended_[step_id] = may_be_suspended;
    wake();
}

void SliceSwitcher::leave(const StepId& step_id) {
    const auto at = suspended_.find(step_id);
    if (at == suspended_.end()) return;
    suspended_.erase(at);
    half_stopped_.erase(step_id);
    candidates_.erase(step_id);
    if (filler_ == step_id) filler_ = StepId{};
    // Also where it was not suspended by us: it must be able to hear that it is to end.
    if (auto done = control_.resume(step_id); !done) count_failure("not_resumed", step_id, done.error());
    wake();
}

void SliceSwitcher::set_priority(const StepId& step_id, double priority) {
    if (suspended_.contains(step_id)) candidates_[step_id].priority = priority;
}

void SliceSwitcher::release_all() {
    active_.reset();
    next_.reset();
    wake();
}

SwitchStatistics SliceSwitcher::statistics() const {
    const std::lock_guard lock(mutex_);
    return {.late = late_.summary(), .cost = cost_.summary(), .fills = fills_, .failed = failed_};
}

void SliceSwitcher::wake() {
    const Time now = clock_.now();
    const Duration begin = clock_.steady_now();
    if (timer_) clock_.cancel(*std::exchange(timer_, std::nullopt));
    const bool is_boundary = boundary_ && begin >= *boundary_;
    if (is_boundary) {
        const std::lock_guard lock(mutex_);
        late_.add(begin - *boundary_);
    }
    boundary_.reset();
    if (next_ && next_->epoch <= now) {
        active_ = std::exchange(next_, std::nullopt);
        slice_.reset();
    }
    if (active_ && active_->rows.empty()) active_.reset();

    const auto view = active_ ? find_slice(*active_, now) : std::nullopt;
    if (view && view->slice != slice_) begin_slice(*view);
    if (view) find_idle_slot(*view);
    apply(wanted(view));
    if (is_boundary) {
        const std::lock_guard lock(mutex_);
        cost_.add(clock_.steady_now() - begin);
    }
    if (view) {
        const Time boundary = next_ ? std::min(view->next, next_->epoch) : view->next;
        schedule(clock_.now(), boundary, active_->fill == FillMode::kLts);
    } else if (next_) {
        schedule(now, next_->epoch, false);
    }
}

void SliceSwitcher::begin_slice(const SliceView& view) {
    slice_ = view.slice;
    is_unchecked_ = true;
    filler_ = StepId{};
    had_slot_.clear();
}

bool SliceSwitcher::is_idle(const SliceView& view) {
    const auto waits = [this](const StepId& step_id) {
        const auto at = suspended_.find(step_id);
        // What is about to be resumed has not had the chance to run yet.
        return at == suspended_.end() || (!at->second && control_.activity(step_id) == StepActivity::kBlocked);
    };
    return filler_.empty() ? std::ranges::all_of(view.step_ids, waits) : waits(filler_);
}

/// The local task scheduler [DaSilva2000, sections 6.2 and 8.2]: where all that has this slot waits, or nothing has it,
/// the one of the others that has the largest priority gets it until the slice ends or it waits, too; by turns among
/// equals. Who is below the floor needs its own ranks at the same time and is never chosen.
void SliceSwitcher::find_idle_slot(const SliceView& view) {
    if (active_->fill != FillMode::kLts || active_->fillers.empty() || !is_idle(view)) return;
    std::vector<gang::LocalTask> tasks;
    for (const StepId& step_id : active_->fillers) {
        const bool has_slot = std::ranges::find(view.step_ids, step_id) != view.step_ids.end();
        const auto at = candidates_.find(step_id);
        const Candidate known = at == candidates_.end() ? Candidate{} : at->second;
        tasks.push_back({.ready = suspended_.contains(step_id) && !has_slot && !had_slot_.contains(step_id),
                         .priority = known.priority,
                         .last_picked = known.picked});
    }
    const auto pick = gang::pick_local(tasks, gang::LocalRule::kPriority, gang::kPriorityFloor);
    if (!pick) return;
    filler_ = active_->fillers[*pick];
    had_slot_.insert(filler_);
    candidates_[filler_].picked = ++picks_;
    const std::lock_guard lock(mutex_);
    ++fills_;
}

SliceSwitcher::Names SliceSwitcher::wanted(const std::optional<SliceView>& view) const {
    Names names;
    if (!active_) {
        for (const auto& [step_id, suspended] : suspended_) names.insert(step_id);
        return names;
    }
    if (view) names.insert(view->step_ids.begin(), view->step_ids.end());
    if (!filler_.empty()) names.insert(filler_);
    return names;
}

/// First the old, then the new: what belongs to two rows never runs together.
void SliceSwitcher::apply(const Names& wanted) {
    for (auto& [step_id, suspended] : suspended_) {
        if (suspended || wanted.contains(step_id)) continue;
        const Result<void> done = control_.suspend(step_id);
        if (!done) count_failure("not_suspended", step_id, done.error());
        suspended = done.has_value();
        if (!done) half_stopped_.insert(step_id);  // some of its processes may stand
    }
    for (auto& [step_id, suspended] : suspended_) {
        if ((!suspended && !half_stopped_.contains(step_id)) || !wanted.contains(step_id)) continue;
        const Result<void> done = control_.resume(step_id);
        if (!done) count_failure("not_resumed", step_id, done.error());
        if (done) half_stopped_.erase(step_id);
        suspended = !done.has_value();
    }
}

/// A timer counts steady time, so after a jump of the wall clock one switch comes early or late, by a slice at most;
/// the next is in step again.
void SliceSwitcher::schedule(Time now, Time boundary, bool checks_between) {
    Duration delay = std::max(boundary - now, Duration{0});
    boundary_ = clock_.steady_now() + delay;
    if (checks_between)
        delay = std::min(delay, std::exchange(is_unchecked_, false) ? kFirstCheck : check_interval(active_->slice));
    if (!active_) delay = std::min(delay, Duration{std::chrono::seconds{1}});  // an epoch may come nearer by a jump
    timer_ = clock_.after(delay, [this] {
        timer_.reset();
        wake();
    });
}

void SliceSwitcher::count_failure(const char* what, const StepId& step_id, const Error& error) {
    const Duration now = clock_.steady_now();
    if (!warned_ || now - *warned_ >= kWarnEvery)  // it may fail at every boundary
        log_.warn(what, {{"operation", step_id}, {"reason", error.message}}), warned_ = now;
    const std::lock_guard lock(mutex_);
    ++failed_;
}

/// 0..7 have a class each; from 2^k on, k >= 3, eight classes lie up to 2^(k+1).
std::size_t DurationHistogram::class_of(std::uint64_t us) {
    if (us < kSteps) return us;
    const int power = std::min(static_cast<int>(std::bit_width(us)) - 1, kPowers + 2);
    const std::uint64_t within = std::min<std::uint64_t>((us >> (power - 3)) - kSteps, kSteps - 1);
    return static_cast<std::size_t>(kSteps * (power - 2)) + within;
}

std::uint64_t DurationHistogram::largest_of(std::size_t index) {
    if (index < kSteps) return index;
    const auto power = index / kSteps + 2;
    return ((std::uint64_t{index % kSteps} + kSteps + 1) << (power - 3)) - 1;
}

void DurationHistogram::add(Duration value) {
    const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0));
    ++classes_[class_of(us)];
    ++count_;
    sum_ += us;
    max_ = std::max(max_, us);
}

DurationSummary DurationHistogram::summary() const {
    DurationSummary summary{.count = count_, .max = Duration{static_cast<std::int64_t>(max_)}};
    if (count_ == 0) return summary;
    summary.mean = Duration{static_cast<std::int64_t>(sum_ / count_)};
    const std::uint64_t rank = count_ - count_ / 100;  // so many are not larger
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        seen += classes_[i];
        if (seen < rank) continue;
        summary.p99 = Duration{static_cast<std::int64_t>(std::min(largest_of(i), max_))};
        break;
    }
    return summary;
}

std::optional<SliceView> find_slice(const SliceColumn& column, Time now) {
    ZBS_EXPECTS(column.slice > Duration{0});
    if (column.rows.empty()) return std::nullopt;
    if (!column.shares.empty()) return find_share(column, now);
    SliceView view;
    view.slice = whole(now - column.epoch, column.slice);
    const auto rows = static_cast<std::int64_t>(column.rows.size());
    view.row = static_cast<std::size_t>((view.slice % rows + rows) % rows);
    view.step_ids = column.rows[view.row];
    view.next = column.epoch + (view.slice + 1) * column.slice;
    return view;
}

}  // namespace zbs
