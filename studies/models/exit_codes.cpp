#include "studies/models/exit_codes.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/model/trace_diagram.hpp"

namespace zbs::elmer {

bool ExitCodes::serves(std::int32_t slots) {
    for (std::int32_t d = 2; d * d <= slots; ++d)
        if (slots % d == 0) return false;
    return slots >= 2 && slots <= kMaxSlots;
}

ExitCodes::ExitCodes(std::int32_t slots) : slots_(static_cast<std::size_t>(slots)) { ZBS_EXPECTS(serves(slots)); }

std::int32_t ExitCodes::assign(JobId job) {
    ZBS_EXPECTS(!full() && job.value >= 0 && !status_of(job));
    std::size_t slot = static_cast<std::size_t>(job.value) % slots_.size();
    while (slots_[slot] != kNoJob) slot = (slot + 1) % slots_.size();
    slots_[slot] = job;
    ++used_;
    return kFirst + static_cast<std::int32_t>(slot);
}

std::optional<JobId> ExitCodes::take(std::int32_t status) {
    const std::int64_t slot = std::int64_t{status} - kFirst;
    if (slot < 0 || slot >= static_cast<std::int64_t>(slots_.size())) return std::nullopt;
    JobId& job = slots_[static_cast<std::size_t>(slot)];
    if (job == kNoJob) return std::nullopt;
    --used_;
    return std::exchange(job, kNoJob);
}

std::optional<std::int32_t> ExitCodes::status_of(JobId job) const {
    const auto found = std::ranges::find(slots_, job);
    if (found == slots_.end() || job == kNoJob) return std::nullopt;
    return kFirst + static_cast<std::int32_t>(found - slots_.begin());
}

}  // namespace zbs::elmer
