#pragma once
#include <cstddef>
#include <cstdint>

#include "algorithms/base/time.hpp"

/// Bounds on both ways of files: `InputUpload` and `ResultTransfer`.
namespace zbs {

inline constexpr std::size_t kPiece = 512 * 1024;
inline constexpr Duration kAskAgain = std::chrono::milliseconds{500};
/// A zone may throw away what came with a wrong checksum so often.
inline constexpr int kMaxSetbacks = 5;
/// A zone that is slower than this is given up: it would keep the application open for ever.
inline constexpr std::uint64_t kMinBytesPerSecond = 64 * 1024;

inline Duration longest_for(std::uint64_t bytes) {
    return std::chrono::seconds{static_cast<std::int64_t>(bytes / kMinBytesPerSecond)};
}

}  // namespace zbs
