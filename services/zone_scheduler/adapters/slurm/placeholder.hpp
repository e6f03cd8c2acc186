#pragma once
#include <string>
#include <string_view>

#include "services/zone_scheduler/adapters/slurm/allocation.hpp"

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

}  // namespace zbs::slurm
