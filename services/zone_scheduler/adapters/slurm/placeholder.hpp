#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/zone_scheduler/adapters/slurm/allocation.hpp"
#include "services/zone_scheduler/adapters/slurm/answers.hpp"

/// How a hold looks in Slurm: name, comment and script of its job.
namespace zbs::slurm {

inline constexpr std::string_view kHeldComment = "zbs:held";
inline constexpr std::string_view kKeptComment = "zbs:kept";

bool is_operation(std::string_view text);
/// Name of the job and of the reservation.
std::string job_name(std::string_view operation);
/// The operation of a job of this name; empty where it is none of ours.
std::string_view operation_of(std::string_view job_name);

/// What the job runs (POSIX sh): sleeps; after the expiry asks Slurm whether it is kept, and ends unless it is. Where
/// Slurm does not answer it goes on: silence ends nothing. `commands` is the folder of scontrol here, where the nodes
/// may have it too.
std::string placeholder_script(const HoldSpec& spec, const std::string& commands);

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
