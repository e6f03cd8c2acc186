#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/base/expects.hpp"
#include "algorithms/model/job.hpp"

namespace zbs {

/// No job: what an idle slot holds.
inline constexpr JobId kNoJob{};

/// Which job each processor serves in each slice of a period: rows are slices, columns processors, a cell is a slot.
/// Known as Ousterhout matrix or trace diagram [DaSilva2000, section 2.1]. The period is run over and over until the
/// workload changes.
///
/// A value: equal where the same jobs hold the same slots of the same rows, in whatever order they came. A task is a
/// job on one processor, so a job needs no task numbers here. Every slot has at most one job. Rows are numbered from
/// 0; erasing one moves those above it down.
class TraceDiagram {
  public:
    /// Whether a job is in a row by its own right, or in slots that were left over there (alternative scheduling).
    enum class Stay : std::uint8_t { kHome, kAlternative };
    /// The share of one row that a job holds.
    struct Entry {
        JobId job;
        std::int32_t processors;
        Stay stay;
        bool operator==(const Entry&) const = default;
    };
    static constexpr std::int32_t kMaxProcessors = 1 << 24;

    /// An empty diagram. Precondition: 1 <= processors <= kMaxProcessors.
    explicit TraceDiagram(std::int32_t processors);

    std::int32_t processors() const { return processors_; }
    std::int32_t row_count() const { return static_cast<std::int32_t>(free_counts_.size()); }
    /// Idle slots of every row, contiguous: the scan of first and best fit touches nothing else.
    std::span<const std::int32_t> free_counts() const { return free_counts_; }
    JobId job_at(std::int32_t row, std::int32_t processor) const { return cell(row, processor); }
    std::span<const JobId> slots(std::int32_t row) const {
        return std::span(slots_).subspan(checked(row) * width(), width());
    }
    /// The jobs of a row in the order in which they came.
    std::span<const Entry> entries(std::int32_t row) const { return entries_[checked(row)]; }
    bool is_free(std::int32_t row, std::int32_t processor) const {
        return (free_set(row)[word(processor)] >> (processor & 63) & 1) != 0;
    }
    /// Bit p % 64 of word p / 64 is set where processor p is idle in the row.
    std::span<const std::uint64_t> free_set(std::int32_t row) const {
        return std::span(free_).subspan(checked(row) * words(), words());
    }
    bool all_free(std::int32_t row, std::span<const std::int32_t> processors) const;

    /// Adds an idle row at the end and returns its number.
    std::int32_t add_row();
    void erase_row(std::int32_t row);
    /// Erases the rows where no job is at home; returns how many those were.
    std::int32_t erase_empty_rows();
    /// Gives slots of a row to a job. Preconditions: they are idle and distinct, at least one; the job is not in the
    /// row yet.
    void place(std::int32_t row, JobId job, std::span<const std::int32_t> processors, Stay stay = Stay::kHome);
    /// Frees all slots of a job, and returns how many those were. Rows stay, also empty ones. O(jobs in the diagram).
    std::int32_t remove(JobId job);
    void remove_alternatives();
    void clear() {
        slots_.clear();
        free_.clear();
        entries_.clear();
        free_counts_.clear();
    }

    /// The row where the job is at home: the first, should there be several.
    std::optional<std::int32_t> home_row(JobId job) const;
    /// All rows where the job holds slots, ascending.
    std::vector<std::int32_t> rows_of(JobId job) const;
    /// The processors of a job in a row, ascending.
    std::vector<std::int32_t> processors_of(std::int32_t row, JobId job) const;

    std::int64_t slot_count() const { return std::int64_t{processors_} * row_count(); }
    std::int64_t idle_slots() const;
    /// idle slots / slots of the period, 0..1; 0 for a diagram without rows.
    double idling_ratio() const;

    friend bool operator==(const TraceDiagram& a, const TraceDiagram& b);

  private:
    static std::size_t word(std::int32_t processor) { return static_cast<std::size_t>(processor) >> 6; }
    std::size_t width() const { return static_cast<std::size_t>(processors_); }
    std::size_t words() const { return (width() + 63) / 64; }
    std::size_t checked(std::int32_t row) const {
        ZBS_EXPECTS(row >= 0 && row < row_count());
        return static_cast<std::size_t>(row);
    }
    const JobId& cell(std::int32_t row, std::int32_t processor) const {
        ZBS_EXPECTS(processor >= 0 && processor < processors_);
        return slots_[checked(row) * width() + static_cast<std::size_t>(processor)];
    }
    template <class Leaves>
    std::int32_t remove_entries(std::size_t row, Leaves leaves);

    std::int32_t processors_;
    std::vector<std::int32_t> free_counts_;
    // Row after row: a diagram is copied at every change of the workload.
    std::vector<JobId> slots_;
    std::vector<std::uint64_t> free_;
    std::vector<std::vector<Entry>> entries_;
};

/// Where rows are ranks, the first the highest: the jobs that have no job of an earlier row on any of their processors,
/// in the order of rows. Precondition: no job is in two rows. O(slots).
std::vector<JobId> jobs_on_top(const TraceDiagram& diagram);

}  // namespace zbs
