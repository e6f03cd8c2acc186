#pragma once
#include <span>
#include <string>
#include <string_view>

#include "services/common/adapters/command_line/pages/command_tree.hpp"

namespace zbs::command_line {

struct ExitCode {
    int code = 0;
    std::string_view meaning;
};

/// What stands in every page of a program.
struct ManualEdition {
    int section = 1;                         ///< 1: commands of users, 8: of operators
    std::string source;                      ///< e.g. "zbs 0.1.0"
    std::string manual;                      ///< title of the manual
    std::span<const ExitCode> exit_codes{};  ///< must outlive the edition; empty: no section EXIT STATUS
    std::string_view exit_note{};            ///< a sentence behind them
};

/// "zbs-zone-show", as the file is called but for its section.
std::string page_name(const Command& command);
/// The page of `command` in the man macros of groff (man(7)); `program` is the whole tree, whose options every command
/// takes as well. Text goes in literally: nothing in it is read as a macro or an escape.
std::string man_page(const Command& command, const Command& program, const ManualEdition& edition);

}  // namespace zbs::command_line
