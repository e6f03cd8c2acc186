#pragma once
#include <cstdint>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/model/workload.hpp"

namespace zbs {

/// Which jobs can run on other numbers of processors than they ask for. Logs do not say.
enum class FlexibilityRule : std::uint8_t {
    kRigid,  ///< all are, as in the next two
    kMoldable,
    kMalleable,
    kMix,    ///< 10 % rigid, 60 % moldable, 30 % malleable, drawn for each job
    kGroup,  ///< by `Job::group`: 0 rigid, 1 moldable, 2 malleable, as the SCOJO generator has it
};

/// Sets the flexibility of every job. Under kMix a job's is a function of `seed` and its number alone, whatever other
/// jobs there are; the shares are those of the SCOJO model's first workload [Huang2004, table 7-2]. Linear.
///
/// Error, kInvalidArgument, under kGroup, naming the first job of another group; then nothing has changed.
Result<void> set_flexibility(Workload& workload, FlexibilityRule rule, std::uint64_t seed);

}  // namespace zbs
