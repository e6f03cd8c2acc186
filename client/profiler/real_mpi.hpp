#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "client/profiler/functions.hpp"

// This library is not linked with any MPI. Each function of functions.hpp that it shows is a jump through a slot. The
// first call of any finds the MPI library that the program has loaded and fills all slots: with the recording twin
// where that library has MPICH's ABI, else with the function that would have been called without us.
// PMPI_* as used within this library are jumps, too, to the functions of that MPI library.

/// `ZBS_OWN(Send)` is the name under which the recording twin of MPI_Send is defined, and in intercept_pmpi.cpp that of
/// PMPI_Send.
#ifndef ZBS_OF_PMPI
#define ZBS_OWN(name) zbs_own_MPI_##name
/// The MPI_Send that a call without us would reach: that of another tool, or MPI's own.
#define ZBS_NEXT_MPI(name) reinterpret_cast<decltype(&MPI_##name)>(zbs_next_MPI_##name)
#else
#define ZBS_OWN(name) zbs_own_PMPI_##name
#define ZBS_NEXT_MPI(name) reinterpret_cast<decltype(&MPI_##name)>(zbs_next_PMPI_##name)
#endif

extern "C" {
#define ZBS_DECLARE(name) extern void *zbs_next_##name, *zbs_next_P##name;
ZBS_C_FUNCTIONS(ZBS_DECLARE)
#undef ZBS_DECLARE
// The type of mpi.h: a twin with another signature does not compile.
#define ZBS_DECLARE(name) decltype(name) zbs_own_##name, zbs_own_P##name;
ZBS_C_FUNCTIONS(ZBS_DECLARE)
#undef ZBS_DECLARE
}

namespace zbs::profiler {

/// A function of ZBS_UNSEEN_FUNCTIONS, and how often this process called it.
struct UnseenCalls {
    std::string name;
    std::uint64_t calls;
};
/// All of them, always in the same order.
std::vector<UnseenCalls> unseen_calls();

/// What MPI_Get_library_version returns; empty before the first call of an MPI function.
const char* mpi_library();

/// Ends a rank of MPICH that Open MPI's launcher started beside others, if its world has `ranks` = 1: each rank would
/// compute the whole. Ranks of Open MPI that MPICH's launcher started end in MPI_Init.
void end_if_alone(int ranks);

/// The function `name` of a library that is loaded, in whatever scope; null where there is none. Loads nothing.
void* find_loaded(const char* name);

/// Before MPI_Abort of the program, for `zbs-step rank`: of a communicator of one rank it is an exit, and MPI also
/// aborts by itself.
void record_abort(int code) noexcept;

/// Whether this process is rank 0, or none at all, by what launchers put into the environment. For messages of
/// processes that may not use MPI.
bool is_first_rank();

}  // namespace zbs::profiler
