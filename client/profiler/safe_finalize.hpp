#pragma once

namespace zbs::profiler {

/// MPICH 4.0 over UCX may wait for ever in MPI_Finalize where ranks talk TCP. Makes this process safe from it, where
/// its MPI and its UCX are those; else does nothing. After MPI_Init, and again at MPI_Finalize where another tool took
/// MPI_Init. Communicates at MPI_Finalize, with all ranks of MPI_COMM_WORLD: all of them must be preloaded.
void make_finalize_safe() noexcept;

}  // namespace zbs::profiler
