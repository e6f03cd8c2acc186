#include "services/common/adapters/command_line/pages/man_page.hpp"

#include <algorithm>

namespace zbs::command_line {
namespace {

/// Text as groff prints it: backslash and dash are characters, and no line begins a macro.
std::string literal(const std::string& text) {
    std::string made;
    bool at_begin = true;
    for (const char c : text) {
        if (at_begin && (c == '.' || c == '\'')) made += "\\&";
        at_begin = c == '\n';
        if (c == '\\')
            made += "\\e";
        else if (c == '-')
            made += "\\-";
        else
            made += c;
    }
    return made;
}

/// Paragraphs apart.
std::string paragraphs(const std::string& text) {
    std::string made = literal(text);
    for (std::size_t at = made.find("\n\n"); at != std::string::npos; at = made.find("\n\n", at + 4))
        made.replace(at, 2, "\n.PP\n");
    return made;
}

std::string first_sentence(const std::string& text) {
    const std::size_t end = std::min({text.find(". "), text.find('\n'), text.find(" (")});
    std::string line = text.substr(0, end);
    while (line.ends_with('.')) line.pop_back();
    return line;
}

std::string synopsis_of(const CommandOption& option) {
    std::string made = option.is_argument ? "\\fI" + literal(option.names[0]) + "\\fR" : literal(option.names[0]);
    if (option.may_repeat) made += " ...";
    return option.is_required ? made : "[" + made + "]";
}

std::string synopsis(const Command& command) {
    std::string made = ".B " + literal(command.path) + "\n";
    bool has_options = false;
    for (const CommandOption& option : command.options) {
        if (option.is_argument) continue;
        if (option.is_required)
            made += "\\fB" + literal(option.names[0]) + "\\fR \\fI" + literal(option.value) + "\\fR\n";
        else
            has_options = true;
    }
    if (has_options) made += "[\\fIoptions\\fR]\n";
    for (const CommandOption& option : command.options)
        if (option.is_argument) made += synopsis_of(option) + "\n";
    if (!command.commands.empty())
        made += std::string(command.needs_command ? "\\fIcommand\\fR" : "[\\fIcommand\\fR]") + " ...\n";
    return made;
}

std::string described(const CommandOption& option) {
    std::string made = ".TP\n";
    for (std::size_t i = 0; i < option.names.size(); ++i)
        made += (i > 0 ? ", " : "") + std::string("\\fB") + literal(option.names[i]) + "\\fR";
    if (!option.value.empty() && !option.is_argument) made += " \\fI" + literal(option.value) + "\\fR";
    made += "\n" + paragraphs(option.text);
    const auto more = [&made](const std::string& text) {
        if (made.back() != '.' && made.back() != '\n') made += '.';
        made += (made.back() == '\n' ? "" : "\n") + text;
    };
    if (!option.words.empty()) {
        std::string words;
        for (const std::string& word : option.words) words += (words.empty() ? "" : ", ") + literal(word);
        more("One of " + words + ".");
    }
    if (!option.default_value.empty()) more("Default: " + literal(option.default_value) + ".");
    if (!option.environment.empty()) more("Environment: \\fB" + literal(option.environment) + "\\fR.");
    return made + "\n";
}

std::string options_section(const std::string& title, const Command& command, bool arguments) {
    std::string made;
    for (const CommandOption& option : command.options)
        if (option.is_argument == arguments) made += described(option);
    return made.empty() ? made : ".SH " + title + "\n" + made;
}

}  // namespace

std::string page_name(const Command& command) {
    std::string name = command.path;
    std::replace(name.begin(), name.end(), ' ', '-');
    return name;
}

std::string man_page(const Command& command, const Command& program, const ManualEdition& edition) {
    std::string title = page_name(command);
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    std::string made = ".\\\" Made from the program's own parser.\n.TH \"" + literal(title) + "\" " +
                       std::to_string(edition.section) + " \"\" \"" + literal(edition.source) + "\" \"" +
                       literal(edition.manual) + "\"\n.SH NAME\n" + literal(page_name(command)) + " \\- " +
                       literal(first_sentence(command.text)) + "\n.SH SYNOPSIS\n" + synopsis(command) +
                       ".SH DESCRIPTION\n" + paragraphs(command.text) + "\n";
    made += options_section("ARGUMENTS", command, true) + options_section("OPTIONS", command, false);
    if (&command != &program) made += options_section("OPTIONS OF ALL COMMANDS", program, false);
    made += ".PP\n\\fB\\-h\\fR and \\fB\\-\\-help\\fR print a summary.\n";
    if (!command.commands.empty()) {
        made += ".SH COMMANDS\n";
        for (const Command& sub : command.commands)
            made += ".TP\n\\fB" + literal(page_name(sub)) + "\\fR(" + std::to_string(edition.section) + ")\n" +
                    literal(first_sentence(sub.text)) + "\n";
    }
    if (!edition.exit_codes.empty()) {
        made += ".SH EXIT STATUS\n";
        for (const ExitCode& one : edition.exit_codes)
            made += ".TP\n\\fB" + std::to_string(one.code) + "\\fR\n" + literal(std::string(one.meaning)) + "\n";
        if (!edition.exit_note.empty()) made += ".PP\n" + literal(std::string(edition.exit_note)) + "\n";
    }
    if (!command.examples.empty()) {
        made += ".SH EXAMPLES\n";
        for (const std::string& example : command.examples) made += ".PP\n.nf\n" + literal(example) + "\n.fi\n";
    }
    if (&command != &program)
        made += ".SH SEE ALSO\n.BR " + literal(page_name(program)) + " (" + std::to_string(edition.section) + ")\n";
    return made;
}

}  // namespace zbs::command_line
