// The twins of PMPI_*: the same functions again, each around MPI's own one. A program may call PMPI_* itself, as the
// bindings of `use mpi_f08` in MPICH's library do, and so does a tool that is preloaded in front of this library. What
// a tool behind calls in its MPI_* is within a call of ours, which records it already.
#define ZBS_OF_PMPI
// NOLINTBEGIN(bugprone-suspicious-include): the second compilation is the purpose.
#include "client/profiler/intercept_collectives.cpp"
#include "client/profiler/intercept_life.cpp"
#include "client/profiler/intercept_messages.cpp"
// NOLINTEND(bugprone-suspicious-include)
