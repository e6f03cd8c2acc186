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

/// What completion knows of a value, as assignments of the shell: `words`, and whether they are a `list`, what else to
/// `ask` for, and whether it may be a `file`, too.
std::string assignments(const CommandOption& option) {
    const std::vector<std::string>& words = option.words.empty() ? option.offers.words : option.words;
    std::string made = "words=" + quoted(joined(words));
    if (option.offers.is_list) made += "; list=1";
    if (!option.offers.kind.empty()) made += "; ask=" + quoted(option.offers.kind);
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
                pattern += (pattern.empty() ? "" : "|") + quoted(command.path + " " + name);
            }
            if (pattern.empty() || option.value.empty()) continue;
            values += "        " + pattern + ") takes=1 list='' ask='' file=''; " + assignments(option) + " ;;\n";
        }
        if (from == &program) break;
    }
    for (const Command& sub : command.commands) commands.push_back(sub.name);
    words += "        " + quoted(command.path) + ") commands=" + quoted(joined(commands)) +
             "; options=" + quoted(joined(options)) + (argument.empty() ? "" : "; " + argument) + " ;;\n";
    for (const Command& sub : command.commands) {
        known += (known.empty() ? "" : "|") + quoted(sub.path);
        add_cases(sub, program, words, values, known);
    }
}

/// Walks the words before the cursor to the innermost command, then offers what that has. Bash takes = for a word of
/// its own (--output=js is three), other shells do not; `split` is what stands before the cursor's word then and must
/// not come again, `keep` what is part of that word and must.
std::string bash_script(const Command& program) {
    std::string words;
    std::string values;
    std::string known;
    add_cases(program, program, words, values, known);
    if (known.empty()) known = "''";
    const std::string name = function_of(program);
    return "# Completion of " + program.name + " for bash, made from the program's own parser.\n" + name +
           "() {\n    local at=" + quoted(program.name) +
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

/// zsh reads bash's; its own completion system would show descriptions, at the price of a second description of all.
std::string zsh_script(const Command& program) {
    const std::string name = function_of(program);
    return "#compdef " + program.name + "\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(program) +
           "# Found by its name, the file itself is what is called the first time; where it is sourced nothing is "
           "completed.\n"
           "if (( ${+compstate} )); then _bash_complete -o default -F " +
           name + "; fi\n";
}

/// fish's condition that the words so far name exactly this command.
std::string condition(const Command& command, const Command& program) {
    std::string made = "__fish_" + function_of(program).substr(1) + "_at " + command.path.substr(program.name.size());
    while (made.ends_with(' ')) made.pop_back();
    return made;
}

/// Words and calls that fish evaluates where somebody asks.
std::string offered_in_fish(const CommandOption& option, const Command& program) {
    const std::vector<std::string>& words = option.words.empty() ? option.offers.words : option.words;
    std::string made = joined(words);
    if (option.offers.is_list && !made.empty()) made = "(__fish_append , " + made + ")";
    if (option.offers.kind.empty()) return made;
    return made + (made.empty() ? "" : " ") + "(command " + program.name + " complete " + option.offers.kind +
           " (commandline -c) 2>/dev/null)";
}

void add_fish(const Command& command, const Command& program, std::string& made) {
    const std::string begin = "complete -c " + program.name + " -n " + quoted_for_fish(condition(command, program));
    for (const Command& sub : command.commands)
        made += begin + " -f -a " + quoted_for_fish(sub.name) + " -d " + quoted_for_fish(brief(sub.text)) + "\n";
    for (const CommandOption& option : command.options) {
        if (option.is_argument) {
            if (const std::string offered = offered_in_fish(option, program); !offered.empty())
                made += begin + (option.offers.is_file_too ? " -a " : " -f -a ") + quoted_for_fish(offered) + "\n";
            continue;
        }
        std::string line = &command == &program ? "complete -c " + program.name : begin;
        for (const std::string& name : option.names)
            line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (const std::string offered = offered_in_fish(option, program); !option.value.empty())
            line += offered.empty() ? " -r"
                                    : (option.offers.is_file_too ? " -r -a " : " -x -a ") + quoted_for_fish(offered);
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
