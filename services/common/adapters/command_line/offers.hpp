#pragma once
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace zbs::command_line {

/// What completion offers for the value of an option or argument that takes other values as well.
struct Offers {
    std::vector<std::string> words;  ///< of letters, digits and = . _ - : alone
    bool is_list = false;            ///< several may be given, with commas
    std::string kind{};        ///< what the program's hidden command `complete KIND` finds more of; empty: nothing
    bool is_file_too = false;  ///< with a kind: file names are offered besides
    bool operator==(const Offers&) const = default;
    bool empty() const { return words.empty() && kind.empty(); }
};

/// Neither --help nor the parser know of it.
void offer(CLI::Option* option, const Offers& offers);
Offers offers_of(const CLI::Option& option);

}  // namespace zbs::command_line
