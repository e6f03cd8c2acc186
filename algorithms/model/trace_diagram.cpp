#include "algorithms/model/trace_diagram.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace zbs {

TraceDiagram::TraceDiagram(std::int32_t processors) : processors_(processors) {
    ZBS_EXPECTS(processors >= 1 && processors <= kMaxProcessors);
}

bool TraceDiagram::all_free(std::int32_t row, std::span<const std::int32_t> processors) const {
    const std::span<const std::uint64_t> free = free_set(row);
    return std::ranges::all_of(processors, [&](std::int32_t p) { return (free[word(p)] >> (p & 63) & 1) != 0; });
}

std::int32_t TraceDiagram::add_row() {
    slots_.resize(slots_.size() + width(), kNoJob);
    free_.resize(free_.size() + words(), ~std::uint64_t{0});
    if (const unsigned rest = static_cast<unsigned>(processors_) & 63; rest != 0)
        free_.back() = (std::uint64_t{1} << rest) - 1;
    entries_.emplace_back();
    free_counts_.push_back(processors_);
    return row_count() - 1;
}

void TraceDiagram::erase_row(std::int32_t row) {
    const auto erase = [at = checked(row)](auto& values, std::size_t each) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(at * each);
        values.erase(first, first + static_cast<std::ptrdiff_t>(each));
    };
    erase(slots_, width());
    erase(free_, words());
    erase(entries_, 1);
    erase(free_counts_, 1);
}

std::int32_t TraceDiagram::erase_empty_rows() {
    std::int32_t erased = 0;
    for (std::int32_t row = row_count(); row-- > 0;) {
        const bool empty = std::ranges::none_of(entries(row), [](const Entry& e) { return e.stay == Stay::kHome; });
        if (!empty) continue;
        erase_row(row);
        ++erased;
    }
    return erased;
}

void TraceDiagram::place(std::int32_t row, JobId job, std::span<const std::int32_t> processors, Stay stay) {
    std::vector<Entry>& there = entries_[checked(row)];
    JobId* const slots = slots_.data() + checked(row) * width();
    std::uint64_t* const free_words = free_.data() + checked(row) * words();
    ZBS_EXPECTS(job != kNoJob && !processors.empty());
    ZBS_EXPECTS(std::ranges::none_of(there, [&](const Entry& e) { return e.job == job; }));
    for (const std::int32_t p : processors) {
        ZBS_EXPECTS(p >= 0 && p < processors_);
        std::uint64_t& free = free_words[word(p)];
        const std::uint64_t bit = std::uint64_t{1} << (p & 63);
        ZBS_EXPECTS((free & bit) != 0);
        free &= ~bit;
        slots[p] = job;
    }
    const auto count = static_cast<std::int32_t>(processors.size());
    there.push_back({job, count, stay});
    free_counts_[static_cast<std::size_t>(row)] -= count;
}

template <class Leaves>
std::int32_t TraceDiagram::remove_entries(std::size_t row, Leaves leaves) {
    JobId* const slots = slots_.data() + row * width();
    std::uint64_t* const free = free_.data() + row * words();
    std::int32_t freed = 0;
    std::erase_if(entries_[row], [&](const Entry& entry) {
        if (!leaves(entry)) return false;
        std::int32_t left = entry.processors;
        for (std::size_t p = 0; left > 0; ++p) {
            if (slots[p] != entry.job) continue;
            slots[p] = kNoJob;
            free[p >> 6] |= std::uint64_t{1} << (p & 63);
            --left;
        }
        freed += entry.processors;
        return true;
    });
    free_counts_[row] += freed;
    return freed;
}

std::int32_t TraceDiagram::remove(JobId job) {
    std::int32_t freed = 0;
    for (std::size_t row = 0; row < entries_.size(); ++row)
        freed += remove_entries(row, [&](const Entry& entry) { return entry.job == job; });
    return freed;
}

void TraceDiagram::remove_alternatives() {
    for (std::size_t row = 0; row < entries_.size(); ++row)
        remove_entries(row, [](const Entry& entry) { return entry.stay == Stay::kAlternative; });
}

std::optional<std::int32_t> TraceDiagram::home_row(JobId job) const {
    for (std::int32_t row = 0; row < row_count(); ++row)
        for (const Entry& entry : entries(row))
            if (entry.job == job && entry.stay == Stay::kHome) return row;
    return std::nullopt;
}

std::vector<std::int32_t> TraceDiagram::rows_of(JobId job) const {
    std::vector<std::int32_t> found;
    for (std::int32_t row = 0; row < row_count(); ++row)
        if (std::ranges::any_of(entries(row), [&](const Entry& e) { return e.job == job; })) found.push_back(row);
    return found;
}

std::vector<std::int32_t> TraceDiagram::processors_of(std::int32_t row, JobId job) const {
    std::vector<std::int32_t> found;
    const std::span<const Entry> there = entries(row);
    const auto entry = std::ranges::find(there, job, &Entry::job);
    if (entry == there.end()) return found;
    found.reserve(static_cast<std::size_t>(entry->processors));
    const std::span<const JobId> cells = slots(row);
    for (std::size_t p = 0; std::cmp_less(found.size(), entry->processors); ++p)
        if (cells[p] == job) found.push_back(static_cast<std::int32_t>(p));
    return found;
}

std::int64_t TraceDiagram::idle_slots() const {
    return std::accumulate(free_counts_.begin(), free_counts_.end(), std::int64_t{0});
}

double TraceDiagram::idling_ratio() const {
    return row_count() == 0 ? 0 : static_cast<double>(idle_slots()) / static_cast<double>(slot_count());
}

bool operator==(const TraceDiagram& a, const TraceDiagram& b) {
    if (a.processors_ != b.processors_ || a.free_counts_ != b.free_counts_ || a.slots_ != b.slots_) return false;
    const auto by_job = [](const TraceDiagram::Entry& x, const TraceDiagram::Entry& y) { return x.job < y.job; };
    for (std::size_t row = 0; row < a.entries_.size(); ++row) {
        if (a.entries_[row] == b.entries_[row]) continue;
        std::vector<TraceDiagram::Entry> x = a.entries_[row], y = b.entries_[row];
        std::ranges::sort(x, by_job);
        std::ranges::sort(y, by_job);
        if (x != y) return false;
    }
    return true;
}

std::vector<JobId> jobs_on_top(const TraceDiagram& diagram) {
    std::vector<JobId> top, hindered;
    std::vector<bool> taken(static_cast<std::size_t>(diagram.processors()));
    for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
        const std::span<const JobId> slots = diagram.slots(row);
        hindered.clear();
        for (std::size_t p = 0; p < slots.size(); ++p) {
            if (slots[p] == kNoJob) continue;
            if (taken[p] && (hindered.empty() || hindered.back() != slots[p])) hindered.push_back(slots[p]);
            taken[p] = true;
        }
        std::ranges::sort(hindered);
        for (const TraceDiagram::Entry& entry : diagram.entries(row))
            if (!std::ranges::binary_search(hindered, entry.job)) top.push_back(entry.job);
    }
    return top;
}

}  // namespace zbs
