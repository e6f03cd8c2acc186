#pragma once
#include "client/profiler/functions.hpp"

namespace zbs::profiler {

/// MPICH 4.0 over UCX may wait for ever in MPI_Finalize where ranks talk TCP. Makes this process safe from it, where
/// its MPI and its UCX are those; else does nothing. After MPI_Init, and again at MPI_Finalize where another tool took
/// MPI_Init. Communicates at MPI_Finalize, with all ranks of MPI_COMM_WORLD: all of them must be preloaded.
void make_finalize_safe() noexcept;

/// The same for sessions: after MPI_Session_init, and before MPI_Session_finalize. The last one of a process whose
/// world is not initialised communicates with all processes of `mpi://WORLD`, as MPICH's own end does.
void record_session() noexcept;
/// Whether MPI ends with this session.
bool end_session(MPI_Session session) noexcept;
/// Whether a session has begun and not ended.
bool has_open_session() noexcept;

}  // namespace zbs::profiler
