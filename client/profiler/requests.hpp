#pragma once

#include <cstdint>

#include "client/profiler/functions.hpp"

namespace zbs::profiler {

struct Members;

/// What a persistent send request will send each time it is started.
struct PersistentSend {
    MPI_Comm comm = MPI_COMM_NULL;
    int to = MPI_PROC_NULL;
    int tag = 0;
    std::uint64_t bytes = 0;
};
/// A receive as the program requested it: source and tag may be wildcards. Without members: none.
struct Receive {
    const Members* members = nullptr;
    int from = MPI_ANY_SOURCE;
    int tag = MPI_ANY_TAG;
};
/// Receives that have not completed, for the trace mode; persistent ones stay.
void remember_receive(MPI_Request request, const Receive& receive, bool persistent = false) noexcept;
/// A persistent receive is under way from here on; before that its completion is none.
void start_receive(MPI_Request request) noexcept;
/// None where the request is no receive that was remembered. Forgets it, unless it is persistent.
Receive completed_receive(MPI_Request request) noexcept;
void remember_message(MPI_Message message, const Members* members) noexcept;
const Members* take_message(MPI_Message message) noexcept;

void remember_request(MPI_Request request, MPI_Comm comm, int to, int tag, std::uint64_t bytes) noexcept;
bool find_request(MPI_Request request, PersistentSend& found) noexcept;
void forget_request(MPI_Request request) noexcept;

}  // namespace zbs::profiler
