#pragma once
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace zbs::command_line {

/// What to say of the first word that `app` did not understand, with the nearest that it knows: "there is no command
/// 'lsit' of zbs; did you mean 'list'?". Empty where all were understood. To be asked after a parse that failed, of the
/// `words` behind the program's name.
std::string unknown_word(const CLI::App& app, const std::string& program, const std::vector<std::string>& words);

/// What gives `option` its value on the command line of `words`: its name, or, where that is not among them and a
/// variable of the environment stands for it, that variable's.
std::string place_of(const CLI::Option& option, const std::vector<std::string>& words);

/// What was wrong with the command line of `words`, without the program's name: the option or argument (or the variable
/// of the environment that stood for it), what is wrong there, and what to give instead. Nothing of the parser's own
/// texts but where a later version of it should find faults that are not known here.
std::string fault_text(const CLI::App& app, const CLI::ParseError& fault, const std::string& program,
                       const std::vector<std::string>& words);

/// Reads the command line into what `app` was built with; its callbacks run. An exit code where the program has nothing
/// left to do: 0 after --help or --version, 2 after an error, which is reported on standard error with the help to
/// read, and on standard output as a problem where JSON is requested.
std::optional<int> parse(CLI::App& app, const std::string& program, int argc, char** argv);

}  // namespace zbs::command_line
