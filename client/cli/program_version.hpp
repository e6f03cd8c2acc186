#pragma once

namespace zbs::cli {

/// As `zbs --version` prints it.
inline constexpr const char* kProgramVersion = "zbs 0.1.0";

}  // namespace zbs::cli
