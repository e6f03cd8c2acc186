#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zbs::system {

/// The shared libraries that an ELF program names itself (DT_NEEDED), as `readelf -d` shows them; empty for what is no
/// such program, or damaged. `elf`: its bytes, or so many of its first ones as are at hand. O(entries of its tables);
/// at most 1,024 names of 255 bytes each.
std::vector<std::string> needed_libraries(std::string_view elf);

/// The library of Open MPI that a program is linked with ("libmpi.so.40"); none where it is linked with none, or with
/// another MPI, or cannot be read. MPICH's own is libmpich, and libmpi.so.12 is the common ABI of MPICH's kin.
std::optional<std::string> open_mpi_of(const std::string& program);

/// Whether MPICH is part of the program itself, so that no preloaded library sees its calls.
bool has_static_mpich(const std::string& program);

}  // namespace zbs::system
