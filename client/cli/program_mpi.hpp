#pragma once
#include <string>
#include <vector>

namespace zbs::cli {

/// Libraries of MPI that a program loads, as "libmpich.so.12"; empty where it loads none of that kind.
struct LoadedMpi {
    std::string mpich;  ///< or a relative with its ABI
    std::string open_mpi;
    friend bool operator==(const LoadedMpi&, const LoadedMpi&) = default;
};

/// Of the shared libraries that ldd(1) tells of `program` in this environment, also by way of other libraries. None
/// where it cannot be told, as for scripts. Does not run the program.
LoadedMpi mpi_of(const std::string& program);

/// Those of the program that `argv` runs. The MPI of a Python program of mpi4py is that of its extension module, as
/// this interpreter finds it (its own folders, PYTHONPATH, a virtual environment); the interpreter itself is linked
/// with none. `program` is the path of argv[0]. Runs the interpreter, which imports nothing of the user's.
LoadedMpi mpi_of_command(const std::string& program, const std::vector<std::string>& argv,
                         const std::string& directory);

/// Whether MPICH is part of the program itself, so that no preloaded library sees its calls.
bool has_static_mpich(const std::string& program);

}  // namespace zbs::cli
