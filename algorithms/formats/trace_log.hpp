#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/model/trace.hpp"

namespace zbs::formats {

/// Bounds on what a trace from outside may make us hold.
struct TraceLimits {
    std::int32_t max_ranks = Trace::kMaxRanks;
    std::size_t max_events = 2'000'000'000;
    std::size_t max_channels = 200'000'000;  ///< about 60 bytes each
};

/// Reads a trace in the text form `zbs-trace/1`:
///
///     zbs-trace/1 RANKS [incomplete]
///     program NAME              up to the end of the line; may be missing
///     unseen CALLS FUNCTION     calls whose messages are missing; the trace is then incomplete
///     rank R                    the events that follow are rank R's, in order; each rank has one or more such lines
///     c SECONDS                 computing
///     s RANK BYTES [TAG]        send; without TAG, 0
///     r RANK|* [TAG|*]          receive; * is any
///     p RANK [TAG]              post a receive
///     w N                       wait for this rank's N-th post, counted from 0
///
/// Words are separated by spaces or tabs; blank lines and lines that begin with # are skipped. A text whose last line
/// has no end is incomplete. Errors have
/// `SOURCE:LINE` as pointer. O(bytes).
Result<Trace> read_trace(std::string_view text, const std::string& source, const TraceLimits& limits = {});

/// The same trace as text; numbers are written so that they are read back exactly.
std::string write_trace(const Trace& trace);

}  // namespace zbs::formats
