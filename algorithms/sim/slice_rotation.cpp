#include "algorithms/sim/slice_rotation.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace zbs {

SliceRotation::SliceRotation(Duration slice, std::int32_t processors)
    : slice_(slice), diagram_(std::make_shared<TraceDiagram>(processors)) {
    ZBS_EXPECTS(slice > Duration::zero());
}

void SliceRotation::add(std::uint32_t job, Duration runtime) {
    ZBS_EXPECTS(runtime > Duration::zero());
    residents_.push_back({job, runtime, {}});
}

std::uint32_t SliceRotation::pop_end() {
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>{});
    const auto [at, order, job] = ends_.back();
    ends_.pop_back();
    note_service(*std::ranges::find(residents_, job, &Resident::job), at);
    std::erase_if(residents_, [job](const Resident& resident) { return resident.job == job; });
    return job;
}

/// Keeps when a job runs for the first time, if it does between synced_ and `until`.
void SliceRotation::note_service(const Resident& resident, Time until) {
    if (row_ < 0 || resident.rows.empty() || first_service(resident.job) != kNever) return;
    const Time at = std::ranges::binary_search(resident.rows, row_)
                        ? synced_
                        : synced_ + left_of_slice_ + slice_ * rows_until(next_row(resident, 0));
    if (at >= until) return;
    if (first_service_.size() <= resident.job) first_service_.resize(resident.job + 1, kNever);
    first_service_[resident.job] = at;
}

/// Of the rows of the job behind the running one, in the order in which they come, that of this number, from 0.
std::int32_t SliceRotation::next_row(const Resident& resident, std::int64_t number) const {
    const auto first = std::ranges::upper_bound(resident.rows, row_) - resident.rows.begin();
    return resident.rows[static_cast<std::size_t>(first + number) % resident.rows.size()];
}

/// Service that a job gets within `elapsed` from synced_ on.
Duration SliceRotation::served(const Resident& resident, Duration elapsed) const {
    if (row_ < 0 || resident.rows.empty()) return Duration::zero();
    const auto runs_in = [&](std::int32_t row) { return std::ranges::binary_search(resident.rows, row); };
    const Duration first = std::min(elapsed, left_of_slice_);
    Duration service = runs_in(row_) ? first : Duration::zero();
    elapsed -= first;
    const Duration period = slice_ * rows();
    service += elapsed / period * static_cast<std::int64_t>(resident.rows.size()) * slice_;
    elapsed %= period;
    // Whole slices of the rows from the next one on, then a part of one.
    const auto whole = static_cast<std::int32_t>(elapsed / slice_);
    const auto rows_before = [&](std::int32_t row) {
        return std::ranges::lower_bound(resident.rows, row) - resident.rows.begin();
    };
    const std::int32_t begin = row_ + 1, end = begin + whole;
    std::int64_t slices = rows_before(std::min(end, rows())) - rows_before(begin);
    if (end > rows()) slices += rows_before(end - rows());
    service += slices * slice_;
    if (runs_in(end % rows())) service += elapsed % slice_;
    return service;
}

Time SliceRotation::end_of(const Resident& resident) const {
    if (row_ < 0 || resident.rows.empty()) return kNever;
    Duration left = resident.left;
    if (std::ranges::binary_search(resident.rows, row_)) {
        if (left <= left_of_slice_) return synced_ + left;
        left -= left_of_slice_;
    }
    const Duration per_period = slice_ * static_cast<std::int64_t>(resident.rows.size());
    const std::int64_t periods = (left.count() - 1) / per_period.count();
    // Too far to be represented, and some other job ends before: the machine serves a job at all times.
    if (periods > (std::int64_t{1} << 61) / (slice_.count() * rows())) return kNever;
    left -= per_period * periods;
    const std::int64_t whole = (left.count() - 1) / slice_.count();  // slices before the last
    const Time at = synced_ + left_of_slice_ + slice_ * rows() * periods;
    return at + slice_ * rows_until(next_row(resident, whole)) + left - slice_ * whole;
}

void SliceRotation::advance(Time now) {
    const Duration elapsed = now - synced_;
    for (Resident& resident : residents_) {
        note_service(resident, now);
        resident.left -= served(resident, elapsed);
    }
    if (row_ >= 0) {
        if (elapsed < left_of_slice_) {
            left_of_slice_ -= elapsed;
        } else {
            const Duration beyond = elapsed - left_of_slice_;
            row_ = static_cast<std::int32_t>((row_ + 1 + beyond / slice_) % rows());
            left_of_slice_ = slice_ - beyond % slice_;
        }
    }
    synced_ = now;
}

SliceRotation::Stretched SliceRotation::stretch(Time now, std::uint32_t job, double factor, Duration extra) {
    ZBS_EXPECTS(factor > 0 && extra >= Duration::zero());
    advance(now);
    const auto found = std::ranges::find(residents_, job, &Resident::job);
    if (found == residents_.end()) return {};
    const Duration before = found->left;
    if (before > Duration::zero()) {
        const double left = static_cast<double>(before.count()) * factor + 0.5;
        found->left = Duration{std::max<std::int64_t>(1, static_cast<std::int64_t>(left))} + extra;
    }
    return {before, found->left};
}

void SliceRotation::install(Time now, std::shared_ptr<const TraceDiagram> diagram, Duration slice) {
    advance(now);
    if (slice > Duration::zero()) {
        slice_ = slice;
        left_of_slice_ = std::min(left_of_slice_, slice);
    }
    std::unordered_map<std::int64_t, std::int32_t> home;
    for (std::int32_t row = 0; row < diagram->row_count(); ++row)
        for (const TraceDiagram::Entry& entry : diagram->entries(row))
            if (entry.stay == TraceDiagram::Stay::kHome) home.emplace(entry.job.value, row);

    std::int32_t next = -1;
    bool same_row = false;
    for (std::int32_t step = 0; row_ >= 0 && step < rows() && next < 0; ++step) {
        const std::int32_t old = (row_ + step) % rows();
        for (const TraceDiagram::Entry& entry : diagram_->entries(old)) {
            if (entry.stay != TraceDiagram::Stay::kHome) continue;
            const auto stays = home.find(entry.job.value);
            if (stays == home.end()) continue;
            next = stays->second;
            same_row = step == 0;
            break;
        }
    }
    if (next < 0 && diagram->row_count() > 0) next = 0;
    if (!same_row) left_of_slice_ = slice_;
    row_ = next;
    diagram_ = std::move(diagram);

    std::unordered_map<std::int64_t, std::vector<std::int32_t>> rows_of;
    for (std::int32_t row = 0; row < rows(); ++row)
        for (const TraceDiagram::Entry& entry : diagram_->entries(row)) rows_of[entry.job.value].push_back(row);
    ends_.clear();
    for (std::size_t i = 0; i < residents_.size(); ++i) {
        Resident& resident = residents_[i];
        const auto found = rows_of.find(resident.job);
        resident.rows = found == rows_of.end() ? std::vector<std::int32_t>{} : std::move(found->second);
        const Time end = end_of(resident);
        if (end != kNever) ends_.push_back({end, i, resident.job});
    }
    std::make_heap(ends_.begin(), ends_.end(), std::greater<>{});
}

}  // namespace zbs
