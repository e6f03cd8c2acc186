#include "services/node_agent/domain/probe_budget.hpp"

#include <algorithm>
#include <cstdint>

namespace zbs {
namespace {

Duration time_of(std::size_t bytes) {
    return Duration{static_cast<std::int64_t>(bytes) * 1'000'000 /
                    static_cast<std::int64_t>(ProbeBudget::kBytesPerSecond)};
}

}  // namespace

Result<void> ProbeBudget::take(std::size_t bytes, Duration now) {
    const Duration full = std::max(full_at_, now) + time_of(std::max(bytes, kMin));
    if (full - now > time_of(kBurst))
        return Error{ErrorCode::kTooManyRequests, "this node is probed too often; leave it a second of rest", {}};
    full_at_ = full;
    return {};
}

}  // namespace zbs
