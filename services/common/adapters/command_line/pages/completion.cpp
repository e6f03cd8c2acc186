#include "services/common/adapters/command_line/pages/completion.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"
#include "services/common/messages/text/quoting.hpp"

namespace zbs::command_line {
namespace {

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
