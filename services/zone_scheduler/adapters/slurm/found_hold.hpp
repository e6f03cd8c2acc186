#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/zone_scheduler/adapters/slurm/answers.hpp"

namespace zbs::slurm {

/// squeue's report of one hold.
struct FoundHold {
    JobLine line;
    Phase phase = Phase::kWaiting;
    /// Jobs of the same name that live too: submissions whose answer was lost, and that came after another one.
    std::vector<std::uint32_t> late;

    Allocation allocation() const;
};

/// The hold called `name` of the user `owner` among these jobs; none where there is none. Of several the first that
/// lives counts, of ended ones the last.
std::optional<FoundHold> choose(const std::vector<JobLine>& jobs, const std::string& name, const AccountName& owner);

}  // namespace zbs::slurm
