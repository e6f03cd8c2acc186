#pragma once
#include <string>
#include <string_view>

namespace zbs {

/// The line with which the dynamic loader reports that a program cannot begin, because a library is missing or is not
/// the right one; fit for one line of a terminal. It names the program and the library. `errors`: what a rank wrote to
/// its error output. Empty if there is no such line.
std::string loader_fault(std::string_view errors);
/// Whether such a line is about `program`, and not about one that it runs.
bool is_loader_fault_of(std::string_view program, std::string_view line);

}  // namespace zbs
