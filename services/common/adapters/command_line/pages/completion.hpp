#pragma once
#include <string>

#include "services/common/adapters/command_line/pages/command_tree.hpp"

namespace zbs::command_line {

/// A script of bash that completes commands, options and words of options and arguments, and asks `PROGRAM complete
/// KIND LINE` for what has a kind; everything else as file names.
std::string completion_script(const Command& program);

}  // namespace zbs::command_line
