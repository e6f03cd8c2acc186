#pragma once
#include <cstdint>

#include "algorithms/model/job.hpp"

namespace zbs {

/// The sizes on which a moldable or malleable job can run, its own request being the best one.
struct SizeRange {
    std::int32_t least = 1;
    std::int32_t best = 1;  ///< N_opt
    std::int32_t most = 1;
    bool operator==(const SizeRange&) const = default;
};

/// Half to twice of what the job asks for, rounded down, within 1 .. processors; only the request for a rigid job
/// [Huang2004, section 6.2].
SizeRange size_range(const Job& job, std::int32_t processors);

/// Speedup on n processors of a job with this range: S = 0.8 n at the least size, 0.65 n at the best, 0.5 n at the
/// most, straight lines in between [Huang2004, section 6.2]. Where least and best are the same, 0.65 n holds there.
/// Precondition: range.least <= n <= range.most.
double speedup(const SizeRange& range, std::int32_t n);
/// How much faster the job runs on n processors than on the best number: S(n) / S(N_opt).
double relative_speed(const SizeRange& range, std::int32_t n);

}  // namespace zbs
