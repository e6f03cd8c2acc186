#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "services/common/adapters/command_line/command_tree.hpp"

namespace zbs::command_line {

enum class Shell { kBash, kZsh, kFish };

std::optional<Shell> parse_shell(std::string_view name);
/// A script that completes commands, options and words of options and arguments, and asks `PROGRAM complete KIND LINE`
/// for what has a kind; everything else as file names.
std::string completion_script(const Command& program, Shell shell);

}  // namespace zbs::command_line
