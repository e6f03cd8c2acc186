#pragma once
#include <string_view>

namespace zbs {

/// The beginning of the reason of an end, of a step, a part and an application, where a machine answered no more. It
/// explains more than the ends of the other ranks, which are stopped then.
inline constexpr std::string_view kLostMachineReason = "lost machine";
/// Likewise where the supervisor of a step was killed, and with it all processes of the step.
inline constexpr std::string_view kLostSupervisorReason = "lost supervisor";

}  // namespace zbs
