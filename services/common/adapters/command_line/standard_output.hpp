#pragma once
#include <string>

namespace zbs::command_line {

/// The last thing a program does: hands over what standard output still holds. The program's exit code: `exit_code`, or
/// 1 where that is 0 and output was lost, at any time, after "PROGRAM: cannot write standard output: REASON" on
/// standard error. A reader that has seen enough (head) is no fault.
int end_of_output(const std::string& program, int exit_code);

}  // namespace zbs::command_line
