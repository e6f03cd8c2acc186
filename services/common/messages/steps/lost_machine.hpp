#pragma once
#include <string_view>

namespace zbs {

/// What the reason of an end begins with, of a step, a part and an application, where a machine answered no more. It
/// tells more than how the other ranks ended, which are stopped then.
inline constexpr std::string_view kLostMachineReason = "lost machine";

}  // namespace zbs
