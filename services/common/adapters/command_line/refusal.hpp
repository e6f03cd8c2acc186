#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace zbs::command_line {

/// What to say of the first word that `app` did not understand, with the nearest that it knows: "there is no command
/// 'lsit' of zbs; did you mean 'list'?". Empty where all were understood. To be asked after a parse that failed, of the
/// `words` behind the program's name.
std::string unknown_word(const CLI::App& app, const std::string& program, const std::vector<std::string>& words);

/// What was wrong with the command line of `words`, without the program's name.
std::string fault_text(const CLI::App& app, const CLI::ParseError& fault, const std::string& program,
                       const std::vector<std::string>& words);

/// Says on standard error what was wrong with the command line. The exit code: 2.
int refuse(const std::string& fault_text, const std::string& program);

}  // namespace zbs::command_line
