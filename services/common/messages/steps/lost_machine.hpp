#pragma once
#include <string_view>

namespace zbs {

/// The beginning of the reason of an end, of a step, a part and an application, where a machine answered no more. It
/// explains more than the ends of the other ranks, which are stopped then.
inline constexpr std::string_view kLostMachineReason = "lost machine";
/// Likewise where the supervisor of a step was killed, and with it all processes of the step.
inline constexpr std::string_view kLostSupervisorReason = "lost supervisor";
/// The beginning of the reason of a part whose ranks got a SIGTERM that neither its zone nor its home sent.
inline constexpr std::string_view kStoppedReason = "ended by somebody else (SIGTERM)";
/// The reason of a step that was stopped, by its zone or with a SIGTERM to its supervisor.
inline constexpr std::string_view kStepStoppedReason = "stopped";

}  // namespace zbs
