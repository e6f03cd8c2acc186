#include "services/common/adapters/command_line/pages/command_tree.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

namespace zbs::command_line {
namespace {

constexpr std::string_view kExample = "Example: ";

CommandOption option_of(const CLI::Option& option) {
    CommandOption made;
    made.is_argument = option.get_positional() && option.get_lnames().empty() && option.get_snames().empty();
    if (made.is_argument) {
        made.names.push_back(option.get_name(true));
    } else {
        for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
    }
    if (option.get_items_expected_max() > 0) {
        const std::string type = option.get_type_name();
        made.words = known_words(option);
        made.value = option.get_option_text().empty() ? type.substr(0, type.find(':')) : option.get_option_text();
        if (made.value.empty()) made.value = "VALUE";
        made.may_repeat = option.get_items_expected_max() > 1;
    }
    made.offers = offers_of(option);
    made.text = option.get_description();
    made.default_value = option.get_default_str();
    made.environment = option.get_envname();
    made.is_required = option.get_required();
    return made;
}

void read_description(const std::string& description, Command& command) {
    std::istringstream lines(description);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(kExample))
            command.examples.push_back(line.substr(kExample.size()));
        else if (!line.empty() || (!command.text.empty() && !command.text.ends_with("\n\n")))
            command.text += (command.text.empty() ? "" : "\n") + line;
    }
    while (command.text.ends_with('\n')) command.text.pop_back();
}

void add_options(const CLI::App& app, Command& command) {
    for (const CLI::Option* option : app.get_options())
        // --help is every command's.
        if (!option->get_group().empty() && option != app.get_help_ptr()) command.options.push_back(option_of(*option));
    // An option group is a nameless command whose options are its parent's.
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App* a) { return a->get_name().empty(); }))
        add_options(*sub, command);
}

Command tree(const CLI::App& app, const std::string& path, const std::string& name) {
    Command command;
    command.path = path;
    command.name = name;
    read_description(app.get_description(), command);
    add_options(app, command);
    command.needs_command = app.get_require_subcommand_min() > 0;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (sub->get_name().empty() || sub->get_group().empty()) continue;
        command.commands.push_back(tree(*sub, path + " " + sub->get_name(), sub->get_name()));
    }
    return command;
}

}  // namespace

std::vector<std::string> known_words(const CLI::Option& option) {
    const std::string type = option.get_type_name();  // a check `{a,b}` stands behind it: "TEXT:{a,b}"
    const std::size_t begin = type.find(":{");
    if (begin == std::string::npos || type.back() != '}') return {};
    std::vector<std::string> words;
    std::istringstream list(type.substr(begin + 2, type.size() - begin - 3));
    for (std::string word; std::getline(list, word, ',');) words.push_back(word);
    return words;
}

Command command_tree(const CLI::App& app, const std::string& program) { return tree(app, program, program); }

}  // namespace zbs::command_line
