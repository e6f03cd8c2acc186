#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace zbs::command_line {

/// Adds the argument `program` of a command: a program with its arguments, as they were given, byte by byte. The first
/// word that is neither an option, nor the value of one, nor an earlier argument is the program, with or without "--"
/// in front of it. Each word behind it belongs to that program, also one that looks like an option of ours.
CLI::Option* add_program(CLI::App& command, std::vector<std::string>& argv, const std::string& text);

/// A command line, divided by whose words they are.
struct DividedWords {
    std::vector<std::string> own;      ///< for the parser; `--name=` is divided into `--name` and an empty word
    bool has_end_of_options = false;   ///< "--" is among them
    std::vector<std::string> program;  ///< the program and its arguments; empty if there is none
    CLI::Option* argument = nullptr;   ///< the argument that takes them
};

/// The words behind the program's own name. The options of `app` define which of them are values of options.
DividedWords divide_words(CLI::App& app, const std::vector<std::string>& words);

/// Lets `app`, called `name`, read the words. CLI11 itself would take "[1,2]" for a list of two, and "-n" behind the
/// program for an option. Throws what CLI11 throws.
void read_words(CLI::App& app, const std::string& name, const DividedWords& words);

}  // namespace zbs::command_line
