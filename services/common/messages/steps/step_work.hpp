#pragma once
#include <array>

namespace zbs {

/// What programs mostly do, as the agent of their machine saw it lately.
enum class StepWork {
    kComputation,
    kIo,             ///< disks
    kCommunication,  ///< waits for messages again and again
    kMixed,          ///< several of these alike
};
const char* to_string(StepWork work);
inline constexpr std::array kStepWorks = {StepWork::kComputation, StepWork::kIo, StepWork::kCommunication,
                                          StepWork::kMixed};

}  // namespace zbs
