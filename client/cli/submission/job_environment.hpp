#pragma once
#include <map>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::cli {

/// Whether a job gets a variable of the command that submits it without being asked for. A job may run at other
/// organisations, and what it sees travels there: only what programs need to run (paths of programs and libraries,
/// language, threads, MPI and its fabrics, modules) goes along. Never a name that says what this command, or a job that
/// it runs in, is.
bool is_passed_on(const std::string& name);

/// The environment that the program is to see: of `own` (name=value) what is passed on, or all of it with `all`, then
/// `exports`: NAME takes a variable from `own`, NAME=VALUE sets one. Errors name the export: a NAME that is not set,
/// what is neither, what is not UTF-8. What of `own` is not UTF-8 would change on its way: it is named in `left_out`.
Result<std::map<std::string, std::string>> job_environment(const std::vector<std::string>& own,
                                                           const std::vector<std::string>& exports, bool all,
                                                           std::vector<std::string>& left_out);

}  // namespace zbs::cli
