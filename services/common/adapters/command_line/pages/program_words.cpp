#include "services/common/adapters/command_line/pages/program_words.hpp"

#include <CLI/CLI.hpp>
#include <string_view>

namespace zbs::command_line {
namespace {

constexpr const char* kProgram = "program";

/// An option group is a nameless command whose options are its parent's.
void add_options(CLI::App& command, std::vector<CLI::Option*>& options) {
    for (CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) options.push_back(option);
    for (CLI::App* group : command.get_subcommands([](const CLI::App* a) { return a->get_name().empty(); }))
        add_options(*group, options);
}

/// As CLI11 decides it: "-5", "-", "- x" and "---" are arguments.
bool looks_like_option(std::string_view word) {
    if (word == "--") return true;
    const bool is_long = word.starts_with("--");
    const std::size_t first = is_long ? 2 : 1;
    if (word.size() <= first || word[0] != '-') return false;
    const bool is_digit = word[first] >= '0' && word[first] <= '9';
    return std::string_view("-! \n").find(word[first]) == std::string_view::npos && (is_long || !is_digit);
}

/// Reads words as CLI11 does, as far as needed to know what each of them is.
class Reader {
  public:
    explicit Reader(CLI::App& app) { enter(app); }

    /// Whether the option `word` takes the next word as its value.
    bool takes_next(std::string_view word) const {
        if (word.starts_with("--")) {
            const std::size_t equals = word.find('=');
            if (equals != std::string_view::npos && equals + 1 < word.size()) return false;
            return takes_value(find([name = std::string(word.substr(2, equals - 2))](const CLI::Option& option) {
                return option.check_lname(name);
            }));
        }
        for (std::size_t i = 1; i < word.size(); ++i) {  // "-qn" is -q and -n
            const auto named = [name = std::string(1, word[i])](const CLI::Option& option) {
                return option.check_sname(name);
            };
            if (takes_value(find(named))) return i + 1 == word.size();
        }
        return false;
    }

    /// The argument that takes a program, if `word`, which is no option, begins one.
    CLI::Option* program_at(const std::string& word, bool may_be_command) {
        if (next_ < arguments_.size()) {
            CLI::Option* const argument = arguments_[next_];
            if (argument->get_name() == kProgram) return argument;
            if (argument->get_items_expected_max() == 1) ++next_;
            return nullptr;
        }
        if (!may_be_command) return nullptr;
        for (CLI::App* command : commands_.back()->get_subcommands([](const CLI::App*) { return true; }))
            if (!command->get_name().empty() && command->check_name(word)) {
                enter(*command);
                break;
            }
        return nullptr;
    }

  private:
    void enter(CLI::App& command) {
        commands_.push_back(&command);
        add_options(command, options_.emplace_back());
        arguments_.clear();
        next_ = 0;
        for (CLI::Option* option : options_.back())
            if (option->get_positional()) arguments_.push_back(option);
    }

    template <class Condition>
    const CLI::Option* find(const Condition& condition) const {
        for (auto options = options_.rbegin(); options != options_.rend(); ++options)  // the innermost command's first
            for (const CLI::Option* option : *options)
                if (condition(*option)) return option;
        return nullptr;
    }

    static bool takes_value(const CLI::Option* option) {
        return option != nullptr && option->get_items_expected_min() > 0;
    }

    std::vector<CLI::App*> commands_;                 ///< from the program inwards
    std::vector<std::vector<CLI::Option*>> options_;  ///< of each of them
    std::vector<CLI::Option*> arguments_;             ///< of the innermost
    std::size_t next_ = 0;
};

}  // namespace

CLI::Option* add_program(CLI::App& command, std::vector<std::string>& argv, const std::string& text) {
    return command.add_option(kProgram, argv, text);
}

DividedWords divide_words(CLI::App& app, const std::vector<std::string>& words) {
    DividedWords divided;
    Reader reader(app);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const bool is_option = !divided.has_end_of_options && looks_like_option(word);
        if (!is_option) {
            divided.argument = reader.program_at(word, !divided.has_end_of_options);
            if (divided.argument != nullptr) {
                divided.program.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
                break;
            }
            divided.own.push_back(word);
        } else if (word == "--") {
            divided.has_end_of_options = true;
            divided.own.push_back(word);
        } else if (!reader.takes_next(word)) {
            divided.own.push_back(word);
        } else if (word.starts_with("--") && word.ends_with('=')) {
            // CLI11 would take the next word for the value.
            divided.own.insert(divided.own.end(), {word.substr(0, word.size() - 1), {}});
        } else {
            divided.own.push_back(word);
            if (i + 1 < words.size()) divided.own.push_back(words[++i]);
        }
    }
    return divided;
}

void read_words(CLI::App& app, const std::string& name, const DividedWords& words) {
    if (words.argument != nullptr)
        words.argument->expected(static_cast<int>(words.program.size()))->allow_extra_args(false);
    std::vector<const char*> argv{name.c_str()};
    for (const std::string& word : words.own) argv.push_back(word.c_str());
    if (words.argument != nullptr && !words.has_end_of_options) argv.push_back("--");
    for (const std::string& word : words.program) argv.push_back(word.c_str());
    app.parse(static_cast<int>(argv.size()), argv.data());
}

}  // namespace zbs::command_line
