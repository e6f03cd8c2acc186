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

/// A whole program: what `run` returns is its exit code, and 1 after "PROGRAM: REASON" on standard error where that
/// throws. Last it hands over what standard output still holds: where output was lost, at any time, a 0 becomes 1,
/// after "PROGRAM: cannot write standard output: REASON". A reader that has seen enough (head) is no fault.
int run_program(const std::string& program, int (*run)(int argc, char** argv), int argc, char** argv);

}  // namespace zbs::command_line
