#pragma once
#include "algorithms/model/workload.hpp"
#include "studies/claims/claim.hpp"

namespace zbs::claims {

/// The jobs of the worked example, seconds after the first submission; job 11 has its start reserved
/// [Huang2004, table 5-1].
Workload scojo_table_5_1();

/// A workload of the experiments [Huang2004, section 5.6], case 1 to 3: the class mix, programs and run times are
/// published, the order of submissions is drawn. In case 1 two of the four long jobs have reserved starts.
/// `as_printed`, case 2: a long job every 10 min, which does not lead to the printed total of FCFS.
Workload scojo_case(int number, std::uint64_t seed, bool as_printed = false);

/// Estimator and worked example: T1, T9, T10. Exact.
Part huang_scojo_example(const Effort& effort);
/// Cases 1 to 3: T11, T12.
Part huang_scojo_cases(const Effort& effort);

}  // namespace zbs::claims
