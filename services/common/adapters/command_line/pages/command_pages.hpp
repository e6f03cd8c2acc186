#pragma once
#include <string>

#include "services/common/adapters/command_line/pages/command_tree.hpp"
#include "services/common/adapters/command_line/pages/man_page.hpp"

namespace zbs::command_line {

/// Adds the command `completion SHELL`, and, hidden, `pages FOLDER`: man pages into FOLDER/man, completions into
/// FOLDER/completions/bash. Packages are built with it. The help of every command gets a last line that
/// names the options of all commands. Call it last. `exit_code` is set where a command runs: 0, or 1 after a message on
/// stderr. `app` must outlive the parsing.
void add_page_commands(CLI::App& app, const std::string& program, const ManualEdition& edition, int& exit_code);

/// A script of bash that completes commands, options and words of options and arguments, and asks `PROGRAM complete
/// KIND LINE` for what has a kind; everything else as file names.
std::string completion_script(const Command& program);

}  // namespace zbs::command_line
