#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "algorithms/base/profile_layout.hpp"

namespace zbs::profiler {

/// What goes into a `zbs-model/1` file. Memory O(ranks + pairs).
struct Model {
    struct Traffic {
        std::uint64_t bytes = 0, messages = 0;
    };
    std::string program;
    bool complete = true;
    std::vector<double> compute;                         ///< seconds per rank, mean over its operations
    std::map<std::string, std::uint64_t> unseen;         ///< calls whose messages are missing, by function
    std::unordered_map<std::uint64_t, Traffic> traffic;  ///< key = smaller rank << 32 | larger rank

    /// `row` = compute nanoseconds, operations, then (peer, bytes, messages) triples. A message to oneself is no edge.
    void add_row(int rank, const std::uint64_t* row, std::size_t words);
    /// Adds the counters in the file; false where it is missing, damaged, or of another run than `own`.
    bool add_rank_file(const char* path, int rank, const ProfileHeader& own, RankState& state);
    /// Writes beside `path` and renames, so that a reader sees the old file or the whole new one. Warns and returns
    /// false where that fails.
    bool write(const char* path) const;
};

}  // namespace zbs::profiler
