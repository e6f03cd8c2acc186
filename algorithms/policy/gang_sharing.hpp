#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/gang/packing.hpp"
#include "algorithms/policy/policy.hpp"

namespace zbs {

/// Gang scheduling: jobs take turns in the rows of a slice matrix, all tasks of a job together [DaSilva2000, chapters 3
/// and 5]. At every change of the workload the matrix is cleaned of jobs that ended, compacted if wanted, waiting jobs
/// are put into it in the order of arrival, and left-over slots filled with copies if wanted [ShmueliFeitelson2005].
///
/// The matrix travels in snapshot and plan; the object keeps an index of it without copies. Unless later jobs may
/// overtake, waiting jobs enter in the order of arrival: none starves. A plan costs O((1 + jobs that ended + jobs that
/// enter) x (slices x processors + running jobs)), times the number of running jobs with migration: it makes the whole
/// matrix.
class GangSharing final : public Policy {
  public:
    /// `packing.processors` and `packing.memory_per_node` are ignored: the zone says both.
    explicit GangSharing(const gang::PackingOptions& packing) : options_(packing) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override;
    ZoneState::Sharing sharing() const override { return ZoneState::Sharing::kTime; }
    Needs needs() const override {
        return {.level = options_.max_slices, .moves = options_.repack != gang::Repack::kNever};
    }
    Result<void> serves(std::int32_t processors) const override;

  private:
    bool follow(const ZoneSnapshot& zone, std::vector<JobId>& ended);
    void restore(const ZoneSnapshot& zone, std::vector<JobId>& ended);

    gang::PackingOptions options_;
    std::optional<gang::GangPacking> packing_;                ///< as the last plan left it, without copies
    std::shared_ptr<const TraceDiagram> diagram_;             ///< of the last plan; nullptr: packing_ is of no use
    std::vector<std::pair<std::uint64_t, JobId>> residents_;  ///< of packing_, by arrival
    IndexAge age_;
};

}  // namespace zbs
