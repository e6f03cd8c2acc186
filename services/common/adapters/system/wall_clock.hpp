#pragma once
#include <chrono>

#include "algorithms/base/time.hpp"

namespace zbs::system {

/// The wall clock, Unix epoch, for commands that have no `Clock`; may jump.
inline Time wall_clock() {
    return time_from_microseconds(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

}  // namespace zbs::system
