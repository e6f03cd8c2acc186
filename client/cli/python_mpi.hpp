#pragma once
#include <string>
#include <vector>

namespace zbs::cli {

/// The extension module through which a Python program of mpi4py comes to its MPI, as this interpreter finds it (its
/// own folders, PYTHONPATH, a virtual environment); empty where `argv` is no such program. The interpreter itself is
/// linked with no MPI. `program` is the path of argv[0]. Runs the interpreter, which imports nothing of the user's.
std::string mpi_extension_of(const std::string& program, const std::vector<std::string>& argv,
                             const std::string& directory);

}  // namespace zbs::cli
