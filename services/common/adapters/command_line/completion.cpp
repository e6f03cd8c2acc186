#include "services/common/adapters/command_line/completion.hpp"

#include <algorithm>

namespace zbs::command_line {
namespace {

/// Inside of single quotes of a POSIX shell.
std::string quoted(const std::string& text) {
    std::string made = "'";
    for (const char c : text) made += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
    return made + "'";
}

/// fish reads \' and \\ inside of single quotes.
std::string quoted_for_fish(const std::string& text) {
    std::string made = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') made += '\\';
        made += c == '\n' ? ' ' : c;
    }
    return made + "'";
}

std::string brief(const std::string& text) {
    const std::size_t end = std::min({text.find(". "), text.find('\n'), text.find(';')});
    return text.substr(0, end);
}

std::string joined(const std::vector<std::string>& words) {
    std::string made;
    for (const std::string& word : words) made += (made.empty() ? "" : " ") + word;
    return made;
}

std::string function_of(const Command& program) {
    std::string name = "_" + program.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// One `case` branch for each command, with its commands and options, and one for each option with known words.
void add_cases(const Command& command, const Command& program, std::string& words, std::string& values,
               std::string& known) {
    std::vector<std::string> options{"--help"};
    std::vector<std::string> commands;
    for (const Command* from : {&command, &program}) {
        for (const CommandOption& option : from->options) {
            if (option.is_argument) continue;
            std::string pattern;
            for (const std::string& name : option.names) {
                if (std::find(options.begin(), options.end(), name) != options.end()) continue;
                options.push_back(name);
                pattern += (pattern.empty() ? "" : "|") + quoted(command.path + " " + name);
            }
            if (pattern.empty() || option.value.empty()) continue;
            values += "        " + pattern + ") takes=1; words=" + quoted(joined(option.words)) + " ;;\n";
        }
        if (from == &program) break;
    }
    for (const Command& sub : command.commands) commands.push_back(sub.name);
    words += "        " + quoted(command.path) + ") commands=" + quoted(joined(commands)) +
             "; options=" + quoted(joined(options)) + " ;;\n";
    for (const Command& sub : command.commands) {
        known += (known.empty() ? "" : "|") + quoted(sub.path);
        add_cases(sub, program, words, values, known);
    }
}

/// Walks the words before the cursor to the innermost command, then offers what that has.
std::string bash_script(const Command& program) {
    std::string words;
    std::string values;
    std::string known;
    add_cases(program, program, words, values, known);
    if (known.empty()) known = "''";
    const std::string name = function_of(program);
    return "# Completion of " + program.name + " for bash, made from the program's own parser.\n" + name +
           "() {\n    local at=" + quoted(program.name) +
           " i word takes='' words='' commands='' options=''\n"
           "    COMPREPLY=()\n"
           "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
           "        word=\"${COMP_WORDS[i]}\"\n"
           "        [[ $word == -- ]] && return 0\n"
           "        case \"$at $word\" in\n        " +
           known +
           ") at=\"$at $word\" ;;\n        esac\n    done\n"
           "    case \"$at ${COMP_WORDS[COMP_CWORD-1]}\" in\n" +
           values + "    esac\n    case \"$at\" in\n" + words +
           "    esac\n"
           "    word=\"${COMP_WORDS[COMP_CWORD]}\"\n"
           "    if [[ -n $takes ]]; then\n"
           "        [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    elif [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "    else\n"
           "        COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
           "    fi\n}\ncomplete -o default -F " +
           name + " " + program.name + "\n";
}

/// zsh reads bash's; its own completion system would show descriptions, at the price of a second description of all.
std::string zsh_script(const Command& program) {
    const std::string name = function_of(program);
    return "#compdef " + program.name + "\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(program) +
           "_bash_complete -o default -F " + name + "  # this first time the file itself is what is called\n";
}

/// fish's condition that the words so far name exactly this command.
std::string condition(const Command& command, const Command& program) {
    std::string made = "__fish_" + function_of(program).substr(1) + "_at " + command.path.substr(program.name.size());
    while (made.ends_with(' ')) made.pop_back();
    return made;
}

void add_fish(const Command& command, const Command& program, std::string& made) {
    const std::string begin = "complete -c " + program.name + " -n " + quoted_for_fish(condition(command, program));
    for (const Command& sub : command.commands)
        made += begin + " -f -a " + quoted_for_fish(sub.name) + " -d " + quoted_for_fish(brief(sub.text)) + "\n";
    for (const CommandOption& option : command.options) {
        if (option.is_argument) continue;
        std::string line = &command == &program ? "complete -c " + program.name : begin;
        for (const std::string& name : option.names)
            line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (!option.value.empty())
            line += option.words.empty() ? " -r" : " -x -a " + quoted_for_fish(joined(option.words));
        made += line + " -d " + quoted_for_fish(brief(option.text)) + "\n";
    }
    for (const Command& sub : command.commands) add_fish(sub, program, made);
}

void list_paths(const Command& command, std::string& made) {
    for (const Command& sub : command.commands) {
        made += (made.empty() ? "" : " ") + quoted_for_fish(sub.path);
        list_paths(sub, made);
    }
}

std::string fish_script(const Command& program) {
    std::string paths;
    list_paths(program, paths);
    const std::string name = "__fish_" + function_of(program).substr(1) + "_at";
    std::string made = "# Completion of " + program.name + " for fish, made from the program's own parser.\nfunction " +
                       name + "\n    set -l at " + program.name +
                       "\n    for word in (commandline -opc)[2..-1]\n"
                       "        contains -- \"$at $word\" " +
                       paths +
                       "; and set at \"$at $word\"\n    end\n"
                       "    test \"$at\" = (string join ' ' " +
                       program.name + " $argv)\nend\n";
    add_fish(program, program, made);
    return made;
}

}  // namespace

std::optional<Shell> parse_shell(std::string_view name) {
    if (name == "bash") return Shell::kBash;
    if (name == "zsh") return Shell::kZsh;
    if (name == "fish") return Shell::kFish;
    return std::nullopt;
}

std::string completion_script(const Command& program, Shell shell) {
    switch (shell) {
        case Shell::kBash:
            return bash_script(program);
        case Shell::kZsh:
            return zsh_script(program);
        case Shell::kFish:
            return fish_script(program);
    }
    return {};
}

}  // namespace zbs::command_line
