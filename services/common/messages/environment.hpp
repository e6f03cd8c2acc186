#pragma once
#include <string>
#include <string_view>

namespace zbs {

/// What is wrong with the name of a variable for ranks; empty if nothing is. A shell starts each rank: it passes on
/// names of letters, digits and '_' only, and sets some variables itself.
std::string environment_name_fault(std::string_view name);

/// Whether a shell sets this variable itself: its value for ranks is not the one that was given.
bool is_set_by_shells(std::string_view name);

}  // namespace zbs
