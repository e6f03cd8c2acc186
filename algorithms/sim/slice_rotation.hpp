#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/model/plan.hpp"

namespace zbs {

/// A machine whose jobs take turns: the rows of a trace diagram run one after the other, each for a slice, over and
/// over. Jobs are known by their places in a workload, which are also their JobIds.
///
/// A change of the diagram takes effect at once, because it only fills idle slots or takes those of jobs that ended:
/// the row that runs goes on to the end of its slice if any of its jobs is still at home in some row; else the next row
/// of which that holds begins. Switching rows costs nothing, and a lone row is never interrupted.
///
/// A change of the diagram costs O(running jobs x rows); all else O(log jobs).
class SliceRotation {
  public:
    /// Preconditions: slice > 0, processors >= 1.
    SliceRotation(Duration slice, std::int32_t processors);

    /// Job `job` needs `runtime` > 0 of service. It gets some once a diagram has it.
    void add(std::uint32_t job, Duration runtime);
    /// Precondition: jobs of the diagram have been added and have not ended; those left out have ended. `slice`: how
    /// long each row runs from its next turn on; 0: as before.
    void install(Time now, std::shared_ptr<const TraceDiagram> diagram, Duration slice = {});
    /// From `now` on the job needs `factor` > 0 times as long for what it has left, and `extra` more. To be followed by
    /// an install. Returns what the job had left, and what it has now.
    struct Stretched {
        Duration before{}, after{};
    };
    Stretched stretch(Time now, std::uint32_t job, double factor, Duration extra = {});

    /// When the next job ends if the diagram stays; kNever where none does.
    Time next_end() const { return ends_.empty() ? kNever : ends_.front().at; }
    /// Takes the job that ends next out; of those that end together the one added first.
    std::uint32_t pop_end();

    /// When the job first ran; kNever where it has not. Of a job that ended: known once it was taken out.
    Time first_service(std::uint32_t job) const { return job < first_service_.size() ? first_service_[job] : kNever; }

    /// The row that runs at the instant of the last install; -1: none.
    std::int32_t row() const { return row_; }

  private:
    struct Resident {
        std::uint32_t job;
        Duration left;                   ///< of service, at synced_
        std::vector<std::int32_t> rows;  ///< ascending
    };
    struct End {
        Time at;
        std::uint64_t order;
        std::uint32_t job;
        bool operator>(const End& other) const { return at != other.at ? at > other.at : order > other.order; }
    };

    Duration served(const Resident& resident, Duration elapsed) const;
    void note_service(const Resident& resident, Time until);
    Time end_of(const Resident& resident) const;
    std::int32_t next_row(const Resident& resident, std::int64_t number) const;
    /// Rows that run between the running one and this one.
    std::int32_t rows_until(std::int32_t row) const { return (row - row_ - 1 + rows()) % rows(); }
    void advance(Time now);
    std::int32_t rows() const { return diagram_->row_count(); }

    Duration slice_;
    std::shared_ptr<const TraceDiagram> diagram_;
    Time synced_{};  ///< instant to which all below belongs
    std::int32_t row_ = -1;
    Duration left_of_slice_{};         ///< > 0 where a row runs
    std::vector<Resident> residents_;  ///< in the order of addition
    std::vector<End> ends_;            ///< min-heap
    std::vector<Time> first_service_;  ///< by job
};

}  // namespace zbs
