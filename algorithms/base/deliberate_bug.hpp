#pragma once
#include <atomic>

namespace zbs {

/// Bugs that are built in on purpose, to show that the simulated world finds them. Off unless a test turns one on;
/// nothing in the programs can (tests/architecture checks it).
enum class DeliberateBug {
    kNone,
    kCommitWithoutSync,  ///< the database answers before its log is on the disk
    kNoFencing,          ///< a zone takes any token
    kKeepRefusedHolds,   ///< a home that plans again forgets the parts it held
};

inline std::atomic<DeliberateBug> g_deliberate_bug{DeliberateBug::kNone};
inline bool has_bug(DeliberateBug bug) { return g_deliberate_bug.load(std::memory_order_relaxed) == bug; }

}  // namespace zbs
