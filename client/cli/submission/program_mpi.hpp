#pragma once
#include <string>
#include <vector>

namespace zbs::cli {

/// The MPI libraries that a program loads, such as "libmpich.so.12"; empty if it loads none of that kind.
struct LoadedMpi {
    std::string mpich;  ///< or a relative with its ABI
    std::string open_mpi;
    friend bool operator==(const LoadedMpi&, const LoadedMpi&) = default;
};

/// The MPI libraries among those that ldd(1) lists for `program` in this environment, direct or indirect. Both are
/// empty if ldd lists none, as for scripts. Does not run the program.
LoadedMpi mpi_of(const std::string& program);

/// The MPI libraries of the command `argv`. A Python program that uses mpi4py loads the MPI of the extension module,
/// which this interpreter finds (in its own folders, PYTHONPATH, a virtual environment); the interpreter is linked with
/// none. `program` is the path of argv[0]. Runs the interpreter, which imports nothing of the user's.
LoadedMpi mpi_of_command(const std::string& program, const std::vector<std::string>& argv,
                         const std::string& directory);

/// Whether MPICH is part of the program itself, so that no preloaded library sees its calls.
bool has_static_mpich(const std::string& program);

}  // namespace zbs::cli
