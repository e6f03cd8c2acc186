#include "services/common/adapters/command_line/refusal.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string_view>
#include <vector>

#include "algorithms/base/suggestion.hpp"

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

}  // namespace

std::string unknown_word(const CLI::App& app, const std::string& program, const std::vector<std::string>& words) {
    const std::vector<std::string> rest = app.remaining(true);
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
    return unknown.empty() ? fault.what() : unknown;
}

int refuse(const std::string& fault_text, const std::string& program) {
    std::cerr << program << ": " << fault_text << "\nRun with --help for more information.\n";
    return 2;
}

}  // namespace zbs::command_line
