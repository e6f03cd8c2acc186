#pragma once
#include <cstdint>
#include <string_view>

#include "client/profiler/recorder.hpp"

/// The trace mode: every operation of this rank as a record of `algorithms/base/trace_layout.hpp`, through a buffer of
/// fixed size into a file of bounded size. All functions do nothing where recorder.tracing is false.
namespace zbs::profiler {

/// Opens PREFIX.RANK where ZBS_PROFILE_TRACE=PREFIX asks for it, and sets recorder.tracing. `program` as in the rank
/// file.
void open_trace(std::uint64_t run_id, const char* program) noexcept;
/// Writes what is left; `finalized`: the rank ended as it should.
void close_trace(bool finalized) noexcept;

void trace_compute(std::int64_t ns) noexcept;
/// Calls of a function, 1 to 128 bytes long, whose messages are not in the trace.
void trace_unseen(std::string_view function, std::uint64_t calls) noexcept;
/// `to`, `from`: ranks in `group`; outside of it or of MPI_COMM_WORLD nothing is traced.
void trace_send(const Group& group, int to, int tag, std::uint64_t bytes) noexcept;
/// A one-sided access: bytes that no receive takes.
void trace_access(const Group& group, int target, std::uint64_t bytes) noexcept;
void trace_receive(const Members& members, int from, int tag) noexcept;
/// The next collective of the group begins; the messages that follow are its.
void trace_collective(const Group& group) noexcept;
void trace_collective_message(const Group& group, int to, std::uint64_t bytes, int round) noexcept;

}  // namespace zbs::profiler
