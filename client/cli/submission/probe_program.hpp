#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::cli {

/// The path of an executable file of this name on PATH; empty where there is none.
std::string path_of(const std::string& name);

struct ProgramOutput {
    int exit_code = 0;  ///< 128 + the signal that ended it
    std::string text;   ///< standard output and error together, at most 256 KiB
};
/// Runs argv[0] (a path) without input. Errors: cannot be started; kTimeout, when it is killed with all of its group.
Result<ProgramOutput> run_briefly(const std::vector<std::string>& argv, std::chrono::milliseconds patience);

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
