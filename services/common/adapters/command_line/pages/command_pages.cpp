#include "services/common/adapters/command_line/pages/command_pages.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "algorithms/base/text.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::command_line {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush())
        throw std::filesystem::filesystem_error("cannot write", path, std::make_error_code(std::errc::io_error));
}

void write_pages(const Command& command, const Command& program, const ManualEdition& edition,
                 const std::filesystem::path& folder) {
    write(folder / (page_name(command) + "." + std::to_string(edition.section)), man_page(command, program, edition));
    for (const Command& sub : command.commands) write_pages(sub, program, edition, folder);
}

void write_all(const Command& program, const ManualEdition& edition, const std::filesystem::path& folder) {
    write_pages(program, program, edition, folder / "man");
    write(folder / "completions/bash" / program.name, completion_script(program));
}

bool has_name(const CLI::App& command, const std::string& name) {
    const auto options = command.get_options();
    return std::ranges::any_of(options, [&](const CLI::Option* option) { return option->check_name(name); });
}

/// At the end of the help of each command: a note that there are more options, and which page explains them.
void point_to_options_of_all(CLI::App& command, const CLI::App& root, const std::string& program) {
    std::string names;
    for (const CLI::Option* option : root.get_options()) {
        if (option == root.get_help_ptr() || option == root.get_version_ptr() || option->get_group().empty()) continue;
        std::vector<std::string> own;
        for (const std::string& name : option->get_snames()) own.push_back("-" + name);
        for (const std::string& name : option->get_lnames()) own.push_back("--" + name);
        std::erase_if(own, [&](const std::string& name) { return has_name(command, name); });
        for (const std::string& name : own) names += (&name == &own[0] ? " " : ",") + name;
    }
    if (!names.empty()) command.footer("Options of all commands, as '" + program + " --help' describes them:" + names);
    for (CLI::App* sub : command.get_subcommands([](CLI::App*) { return true; }))
        point_to_options_of_all(*sub, root, program);
}

std::string function_of(const Command& program) {
    std::string name = "_" + program.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// What completion knows of a value, as assignments of the shell: `words`, and whether they are a `list`, what else to
/// `ask` for, and whether it may be a `file`, too.
std::string assignments(const CommandOption& option) {
    const std::vector<std::string>& words = option.words.empty() ? option.offers.words : option.words;
    std::string made = "words=" + shell_word(joined(words, " "));
    if (option.offers.is_list) made += "; list=1";
    if (!option.offers.kind.empty()) made += "; ask=" + shell_word(option.offers.kind);
    if (option.offers.is_file_too) made += "; file=1";
    return made;
}

/// One `case` branch for each command, with its commands, options and argument, and one for each option with a value.
void add_cases(const Command& command, const Command& program, std::string& words, std::string& values,
               std::string& known) {
    std::vector<std::string> options{"--help"};
    std::vector<std::string> commands;
    std::string argument;
    for (const Command* from : {&command, &program}) {
        for (const CommandOption& option : from->options) {
            if (option.is_argument) {
                const bool has_any = !option.words.empty() || !option.offers.empty();
                if (from == &command && has_any && argument.empty()) argument = assignments(option);
                continue;
            }
            std::string pattern;
            for (const std::string& name : option.names) {
                if (std::find(options.begin(), options.end(), name) != options.end()) continue;
                options.push_back(name);
                pattern += (pattern.empty() ? "" : "|") + shell_word(command.path + " " + name);
            }
            if (pattern.empty() || option.value.empty()) continue;
            values += "        " + pattern + ") takes=1 list='' ask='' file=''; " + assignments(option) + " ;;\n";
        }
        if (from == &program) break;
    }
    for (const Command& sub : command.commands) commands.push_back(sub.name);
    words += "        " + shell_word(command.path) + ") commands=" + shell_word(joined(commands, " ")) +
             "; options=" + shell_word(joined(options, " ")) + (argument.empty() ? "" : "; " + argument) + " ;;\n";
    for (const Command& sub : command.commands) {
        known += (known.empty() ? "" : "|") + shell_word(sub.path);
        add_cases(sub, program, words, values, known);
    }
}

}  // namespace

void add_page_commands(CLI::App& app, const std::string& program, const ManualEdition& edition, int& exit_code) {
    CLI::App* const completion = app.add_subcommand(
        "completion", "a script that completes commands and options in your shell\n\nExample: " + program +
                          " completion bash > ~/.local/share/bash-completion/completions/" + program);
    auto shell = std::make_shared<std::string>();
    completion->add_option("SHELL", *shell, "which shell")->required()->check(one_of({"bash"}));
    completion->callback([&app, &exit_code, program, shell] {
        std::cout << completion_script(command_tree(app, program)) << std::flush;
        exit_code = std::cout ? 0 : 1;
    });
    for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
        point_to_options_of_all(*sub, app, program);
    CLI::App* const pages = app.add_subcommand("pages", "man pages and completions, for packages")->group("");
    auto folder = std::make_shared<std::string>();
    pages->add_option("FOLDER", *folder, "where to")->required();
    pages->callback([&app, &exit_code, program, edition, folder] {
        try {
            write_all(command_tree(app, program), edition, *folder);
            exit_code = 0;
        } catch (const std::filesystem::filesystem_error& fault) {
            std::cerr << program << ": " << fault.what() << "\n";
            exit_code = 1;
        }
    });
}

/// Walks the words before the cursor to the innermost command, then offers what that has. Bash takes = for a word of
/// its own (--output=js is three); `split` is what stands before the cursor's word then and must
/// not come again, `keep` what is part of that word and must.
std::string completion_script(const Command& program) {
    std::string words;
    std::string values;
    std::string known;
    add_cases(program, program, words, values, known);
    if (known.empty()) known = "''";
    const std::string name = function_of(program);
    return "# Completion of " + program.name + " for bash, made from the program's own parser.\n" + name +
           "() {\n    local at=" + shell_word(program.name) +
           " i word option left takes='' words='' commands='' options='' list='' ask='' file='' split='' keep=''\n"
           "    COMPREPLY=()\n"
           "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
           "        word=\"${COMP_WORDS[i]}\"\n"
           "        [[ $word == -- ]] && return 0\n"
           "        case \"$at $word\" in\n        " +
           known +
           ") at=\"$at $word\" ;;\n        esac\n    done\n"
           "    word=\"${COMP_WORDS[COMP_CWORD]}\"\n"
           "    option=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
           "    i=0\n"
           "    if [[ $word == '=' ]]; then\n"
           "        i=$COMP_CWORD word=''\n"
           "    elif [[ $option == '=' ]]; then\n"
           "        i=$((COMP_CWORD - 1))\n"
           "    elif [[ $word == --*=* ]]; then\n"
           "        option=\"${word%%=*}\" word=\"${word#*=}\"\n"
           "        keep=\"$option=\"\n"
           "    fi\n"
           "    if ((i > 1)); then\n"
           "        left=\"${COMP_WORDS[i-1]}\"\n"
           "        if [[ $left == -* ]]; then option=\"$left\"; else option=\"${COMP_WORDS[i-2]}\" split=\"$left=\"; "
           "fi\n"
           "    fi\n"
           "    case \"$at\" in\n" +
           words + "    esac\n    case \"$at $option\" in\n" + values +
           "    esac\n"
           "    if [[ -z $takes ]]; then\n"
           "        [[ $word == -* ]] && words=\"$options\" list='' ask='' file='' || words=\"$commands $words\"\n"
           "    fi\n"
           "    word=\"$split$word\"\n"
           "    if [[ -n $list ]]; then\n"
           "        keep=\"$keep${word%\"${word##*,}\"}\" word=\"${word##*,}\"\n"
           "        [[ $word == -* ]] && keep=\"$keep-\" word=\"${word#-}\"\n"
           "    fi\n"
           "    if [[ -n $ask ]]; then\n"
           "        words=\"$words $(\"${COMP_WORDS[0]}\" complete \"$ask\" \"${COMP_LINE:-}\" 2>/dev/null "
           "</dev/null)\"\n"
           "        [[ -z $file ]] && compopt +o default 2>/dev/null\n"
           "    fi\n"
           "    COMPREPLY=($(compgen -W \"$words\" -P \"$keep\" -- \"$word\"))\n"
           "    [[ -n $split ]] && COMPREPLY=(\"${COMPREPLY[@]#\"$split\"}\")\n"
           "    [[ -n $list || ${COMPREPLY[0]:-} == *= ]] && compopt -o nospace 2>/dev/null\n"
           "    return 0\n"
           "}\ncomplete -o default -F " +
           name + " " + program.name + "\n";
}

}  // namespace zbs::command_line
