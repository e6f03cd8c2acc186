#pragma once
#include "algorithms/base/result.hpp"
#include "client/cli/simulation/simulate_input.hpp"
#include "client/cli/simulation/simulate_output.hpp"

/// What the user of `zbs simulate` asks to be otherwise than in the log or the model, and what the log recorded.
namespace zbs::cli {

/// `--compare recorded`: stands among the policies, and is none.
inline constexpr std::string_view kRecorded = "recorded";

/// Keeps the jobs of `--where`, then multiplies estimates by `--estimate-factor` (never below the run time), then
/// scales the gaps between submissions until the offered load, processors x run time / (processors of the machine x
/// time from the first to the last submission), is that of `--load`; a note on each. Linear, but for jobs that come to
/// be submitted in one microsecond, which are sorted. Errors name the option: no job left, submissions at one instant
/// only.
Result<void> change_workload(const WorkloadSource& source, LoadedWorkload& loaded);

/// Most processors that jobs of fixed sizes have at one instant.
std::int64_t most_in_use(const Workload& workload, const SimulatedSchedule& schedule);

/// The schedule that the log recorded: each job starts when it has waited as long as then, on any processors. Errors:
/// no log, a job without a wait.
Result<SimulatedSchedule> recorded_schedule(const LoadedWorkload& loaded);

}  // namespace zbs::cli
