#pragma once
#include <string>
#include <string_view>

namespace zbs {

/// What is wrong with the name of a variable for ranks; empty if nothing is. A shell starts each rank: it passes on
/// names of letters, digits and '_' only, and sets some variables itself, as zones and MPI launchers do.
std::string environment_name_fault(std::string_view name);

/// Whether a shell sets this variable itself: its value for ranks is not the one that was given.
bool is_set_by_shells(std::string_view name);

/// Whether this variable belongs to the zone, to the MPI launcher or to the commands of ZBS: a job around this one may
/// have set it, and ranks get the value of their own zone and launcher, or none.
bool is_set_by_zones(std::string_view name);

}  // namespace zbs
