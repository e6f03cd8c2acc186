#include "services/common/adapters/command_line/refusal.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/adapters/command_line/pages/command_tree.hpp"
#include "services/common/adapters/command_line/pages/program_words.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::command_line {
namespace {

/// The command that `unknown` was said to: the innermost of those that were recognised in front of it.
const CLI::App& command_before(const CLI::App& app, const std::vector<std::string>& words, const std::string& unknown) {
    const CLI::App* at = &app;
    auto rest = words.begin();
    while (!at->get_subcommands().empty()) {
        const CLI::App* const next = at->get_subcommands().back();
        const auto found = std::find(rest, words.end(), next->get_name());
        if (std::find(rest, found, unknown) != found) break;
        rest = found == words.end() ? found : found + 1;
        at = next;
    }
    return *at;
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* at = &command; at != nullptr; at = at->get_parent())
        for (const CLI::Option* option : at->get_options())
            for (const std::string& name : option->get_lnames()) names.push_back(name);
    return names;
}

/// Nothing in it drives a terminal.
std::string harmless(std::string word) {
    std::ranges::replace_if(
        word, [](unsigned char c) { return c < ' ' || c >= 127; }, '?');
    return word;
}

/// The commands that were recognised, from the program inwards.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    std::vector<const CLI::App*> commands{&app};
    while (!commands.back()->get_subcommands().empty()) commands.push_back(commands.back()->get_subcommands().back());
    return commands;
}

/// "zbs profile list"
std::string path_of_command(const CLI::App& app, const std::string& program) {
    std::string path = program;
    for (const CLI::App* command : commands_of(app))
        if (command != &app && !command->get_group().empty()) path += " " + command->get_name();
    return path;
}

void add_options(const CLI::App& command, std::vector<const CLI::Option*>& options) {
    for (const CLI::Option* option : command.get_options()) options.push_back(option);
    // An option group is a nameless command whose options are its parent's.
    for (const CLI::App* group : command.get_subcommands([](const CLI::App* a) { return a->get_name().empty(); }))
        add_options(*group, options);
}

bool is_argument(const CLI::Option& option) { return option.get_lnames().empty() && option.get_snames().empty(); }

/// "a whole number from 1 to 9", "json or table"; empty where anything is taken.
std::string accepted(const CLI::Option& option) {
    const std::string type = option.get_type_name();  // "INT", "TEXT:{json,table}", "INT:INT in [1 - 9]"
    const std::string kind = type.starts_with("INT") || type.starts_with("UINT") ? "a whole number"
                             : type.starts_with("FLOAT")                         ? "a number"
                                                                                 : "";
    if (const std::vector<std::string> known = known_words(option); !known.empty()) return joined(known, ", ", " or ");
    if (const std::size_t range = type.find(" in ["); range != std::string::npos && type.back() == ']') {
        const std::string limits = type.substr(range + 5, type.size() - range - 6);
        if (const std::size_t middle = limits.find(" - "); middle != std::string::npos)
            return kind + " from " + limits.substr(0, middle) + " to " + limits.substr(middle + 3);
    }
    return kind;
}

/// " (what it is)", from the help.
std::string explained(const CLI::Option& option) {
    const std::string& text = option.get_description();
    return text.empty() ? "" : " (" + text.substr(0, text.find('\n')) + ")";
}

bool is_given(const CLI::Option& option, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word == "--") return false;
        for (const std::string& name : option.get_lnames())
            if (word == "--" + name || word.starts_with("--" + name + "=")) return true;
        for (const std::string& name : option.get_snames())
            if (word.starts_with("-" + name)) return true;
    }
    return is_argument(option);
}

/// Makes a sentence of an error of the parser, whose own texts address programmers. The error names the option in its
/// text alone.
class FaultText {
  public:
    FaultText(const CLI::App& app, const CLI::ParseError& fault, const std::string& program,
              const std::vector<std::string>& words)
        : app_(app), fault_(fault), program_(program), words_(words), said_(fault.what()) {
        for (const CLI::App* command : commands_of(app)) add_options(*command, options_);
        std::ranges::reverse(options_);  // the innermost command's first
    }

    std::string text() const {
        if (is<CLI::ArgumentMismatch>()) return mismatch();
        if (is<CLI::ConversionError>()) return conversion();
        if (is<CLI::ValidationError>()) return validation();
        if (is<CLI::RequiredError>()) return required();
        if (is<CLI::RequiresError>()) {
            const auto [first, second] = around(" requires ");
            return first + ": needs " + second + ", too; give both";
        }
        if (is<CLI::ExcludesError>()) {
            const auto [first, second] = around(" excludes ");
            return first + " and " + second + " contradict each other; give one of them";
        }
        return said_;
    }

  private:
    template <class Fault>
    bool is() const {
        return dynamic_cast<const Fault*>(&fault_) != nullptr;
    }

    /// The option with whose name `text` begins.
    const CLI::Option* option_at(std::string_view text) const {
        const CLI::Option* found = nullptr;
        for (const CLI::Option* option : options_) {
            const std::string name = option->get_name();
            const bool is_it = text.starts_with(name) &&
                               (text.size() == name.size() || text[name.size()] == ':' || text[name.size()] == ' ');
            if (is_it && (found == nullptr || name.size() > found->get_name().size())) found = option;
        }
        return found;
    }

    std::string place(const CLI::Option& option) const { return place_of(option, words_); }

    /// "-np" gives the option -n the value 'p', and many mean another option by it: a note behind the fault.
    std::string attached_text(const CLI::Option& option) const {
        for (const std::string& name : option.get_snames())
            for (const std::string& word : words_)
                if (word.size() > 2 && word.starts_with("-" + name) && !option.results().empty() &&
                    word.substr(2) == option.results().back())
                    return "; '" + word + "' is read as '-" + name + " " + word.substr(2) + "', write -" + name +
                           " and then the value";
        return {};
    }

    std::pair<std::string, std::string> around(std::string_view middle) const {
        const std::size_t at = said_.find(middle);
        if (at == std::string::npos) return {said_, ""};
        return {said_.substr(0, at), said_.substr(at + middle.size())};
    }

    std::string mismatch() const {
        const CLI::Option* const option = option_at(said_);
        if (option == nullptr) return said_;
        if (said_.find("At Most") != std::string::npos)
            return option->get_name() + ": given " + std::to_string(option->count()) + " times; give it once";
        const std::string wanted = accepted(*option);
        return option->get_name() + ": its value is missing" + (wanted.empty() ? "" : "; give " + wanted) +
               explained(*option);
    }

    std::string conversion() const {
        constexpr std::string_view kIntro = "Could not convert: ";
        const CLI::Option* const option =
            option_at(std::string_view(said_).substr(said_.starts_with(kIntro) ? kIntro.size() : 0));
        if (option == nullptr) return said_;
        if (option->get_items_expected_max() == 0) return place(*option) + ": takes no value; give it alone";
        const std::string value = option->results().empty() ? "" : option->results().back();
        const std::string wanted = accepted(*option);
        const bool is_number = !value.empty() && value.find_first_not_of("0123456789-") == std::string::npos;
        return place(*option) + ": '" + value + "' is " +
               (wanted.empty() ? "nothing it can be" + explained(*option)
                : is_number    ? "out of range; it takes " + wanted
                               : "not " + wanted) +
               attached_text(*option);
    }

    std::string validation() const {
        const CLI::Option* const option = option_at(said_);
        if (option == nullptr) return said_;
        return place(*option) + said_.substr(option->get_name().size()) + attached_text(*option);
    }

    std::string required() const {
        constexpr std::string_view kEnd = " is required";
        if (const CLI::Option* const option = option_at(said_); option != nullptr && said_.ends_with(kEnd))
            return std::string(is_argument(*option) ? "the argument '" : "the option '") + option->get_name() +
                   "' is missing" + explained(*option);
        std::vector<std::string> known;
        const CLI::App& command = *commands_of(app_).back();
        for (const CLI::App* sub : command.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
            if (!sub->get_name().empty()) known.push_back(sub->get_name());
        if (known.empty()) return said_;
        return "which command? '" + path_of_command(app_, program_) + "' has " + joined(known, ", ", " and ");
    }

    const CLI::App& app_;
    const CLI::ParseError& fault_;
    const std::string& program_;
    const std::vector<std::string>& words_;
    std::string said_;
    std::vector<const CLI::Option*> options_;
};

/// Lists each command of a help with its first line; the command's own help has the rest.
class OneLinePerCommand : public CLI::Formatter {
  public:
    std::string make_subcommand(const CLI::App* sub) const override {
        const std::string text = sub->get_description();
        std::ostringstream out;
        CLI::detail::format_help(out, sub->get_display_name(true), text.substr(0, text.find('\n')), get_column_width());
        return out.str();
    }
};

void set_formatter(CLI::App& command, const std::shared_ptr<CLI::Formatter>& formatter) {
    command.formatter(formatter);
    for (CLI::App* sub : command.get_subcommands([](CLI::App*) { return true; })) set_formatter(*sub, formatter);
}

}  // namespace

std::string place_of(const CLI::Option& option, const std::vector<std::string>& words) {
    return option.get_envname().empty() || is_given(option, words) ? option.get_name() : option.get_envname();
}

std::string unknown_word(const CLI::App& app, const std::string& program, const std::vector<std::string>& words) {
    std::vector<std::string> rest = app.remaining(true);
    if (rest.size() > 1 && rest[0] == "--") rest.erase(rest.begin());
    if (rest.empty() || rest[0] == "--") return {};
    const CLI::App& command = command_before(app, words, rest[0]);
    const std::string word = rest[0].substr(0, rest[0].find('='));
    const bool is_option = word.starts_with("-");
    std::vector<std::string> known;
    if (is_option) {
        known = option_names(command);
    } else {
        for (const CLI::App* sub : command.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
            known.push_back(sub->get_name());
        if (known.empty()) return "'" + harmless(word) + "' is too much: '" + command.get_name() + "' takes no more";
    }
    std::string text = "there is no " + std::string(is_option ? "option" : "command") + " '" + harmless(word) +
                       "' of " + (command.get_parent() == nullptr ? program : "'" + command.get_name() + "'");
    const std::vector<std::string_view> names(known.begin(), known.end());
    if (!is_option) return text + did_you_mean(word, names);
    // The dashes are right, and would make slips in the letters weigh less.
    const std::string letters = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    if (const std::string_view near = closest_name(letters, names); !near.empty())
        text += "; did you mean '--" + std::string(near) + "'?";
    return text;
}

std::string fault_text(const CLI::App& app, const CLI::ParseError& fault, const std::string& program,
                       const std::vector<std::string>& words) {
    // A value that is wrong leaves the words behind it unread: they are not what is wrong.
    const bool is_about_words = dynamic_cast<const CLI::ExtrasError*>(&fault) != nullptr ||
                                dynamic_cast<const CLI::RequiredError*>(&fault) != nullptr;
    const std::string unknown = is_about_words ? unknown_word(app, program, words) : std::string{};
    return harmless(unknown.empty() ? FaultText{app, fault, program, words}.text() : unknown);
}

std::optional<int> parse(CLI::App& app, const std::string& program, int argc, char** argv) {
    set_formatter(app, std::make_shared<OneLinePerCommand>());
    const DividedWords words = divide_words(app, {argv + 1, argv + argc});
    try {
        read_words(app, argv[0], words);
        return std::nullopt;
    } catch (const CLI::Success& done) {  // --help, --version
        return app.exit(done);
    } catch (const CLI::ParseError& fault) {
        const std::string text = fault_text(app, fault, program, words.own);
        if (asks_for_json(words.own)) std::cout << http::problem(invalid(text)).body << "\n";
        std::cerr << program << ": " << text << "\nSee '" << path_of_command(app, program) << " --help'.\n";
        return 2;
    }
}

}  // namespace zbs::command_line
