#pragma once
// What mpi.h declares is all that this library shows; the rest is built with hidden visibility.
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include <cstdint>

namespace zbs::profiler {

/// What a persistent send request will send each time it is started.
struct PersistentSend {
    MPI_Comm comm = MPI_COMM_NULL;
    int to = MPI_PROC_NULL;
    std::uint64_t bytes = 0;
};
void remember_request(MPI_Request request, MPI_Comm comm, int to, std::uint64_t bytes) noexcept;
bool find_request(MPI_Request request, PersistentSend& found) noexcept;
void forget_request(MPI_Request request) noexcept;

}  // namespace zbs::profiler
