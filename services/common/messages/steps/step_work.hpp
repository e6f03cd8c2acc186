#pragma once
#include <array>

#include "algorithms/base/words.hpp"

namespace zbs {

/// What programs mostly do, as the agent of their machine saw it lately.
enum class StepWork {
    kComputation,
    kIo,             ///< disks
    kCommunication,  ///< waits for messages again and again
    kMixed,          ///< several of these alike
};
constexpr auto words_of(StepWork) { return std::array{"computation", "io", "communication", "mixed"}; }

}  // namespace zbs
