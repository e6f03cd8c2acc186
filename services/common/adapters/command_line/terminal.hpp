#pragma once
#include <cstddef>
#include <string>

namespace zbs::command_line {

/// Whether colour may go to this stream (1 standard output, 2 standard error): a terminal that is not "dumb", and
/// NO_COLOR is unset or empty (https://no-color.org).
bool wants_colour(int stream);

/// Columns that tables on standard output may fill: those of the terminal, else 120.
std::size_t table_width();

enum class Colour { kGreen, kYellow, kRed };
/// `text` in a colour where `on`, else as it is.
std::string coloured(const std::string& text, Colour colour, bool on);

/// The last thing a program does: hands over what standard output still holds. The program's exit code: `exit_code`, or
/// 1 where that is 0 and output was lost, at any time, after "PROGRAM: cannot write standard output: REASON" on
/// standard error. A reader that has seen enough (head) is no fault.
int end_of_output(const std::string& program, int exit_code);

}  // namespace zbs::command_line
