#pragma once
#include <string>
#include <vector>

#include "services/common/adapters/command_line/values.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace zbs::command_line {

/// An option, or an argument without a name.
struct CommandOption {
    std::vector<std::string> names;  ///< "-n", "--ranks"; of an argument its one name without dashes
    std::string value;               ///< what it takes, e.g. "INT"; empty: a flag
    std::vector<std::string> words;  ///< the only values it takes; empty: any
    Offers offers;                   ///< what it is likely to take
    std::string text;
    std::string default_value;
    std::string environment;  ///< variable that stands for it
    bool is_argument = false;
    bool is_required = false;
    bool may_repeat = false;
};

struct Command {
    std::string path;  ///< "zbs zone show"
    std::string name;  ///< "show"
    std::string text;
    std::vector<std::string> examples;
    std::vector<CommandOption> options;
    std::vector<Command> commands;
    bool needs_command = false;
};

/// The only values that `option` takes; empty: any.
std::vector<std::string> known_words(const CLI::Option& option);

/// All that `app` shows of itself in --help, without hidden commands and options and --help itself. `program` is its
/// name on the command line. O(options).
Command command_tree(const CLI::App& app, const std::string& program);

}  // namespace zbs::command_line
