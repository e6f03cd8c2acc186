#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs::cli {

/// One `#ZBS` line of a script: its words, and the line it stands in, from 1.
struct Directive {
    std::size_t line = 0;
    std::vector<std::string> words;
};

/// A comment that looks like a directive and is none: "# ZBS -n 2", "#zbs -n 2", "#ZBS-n 2".
struct MistypedDirective {
    std::size_t line = 0;
    std::string options;  ///< "-n 2"
};

/// What the top of a file says to `zbs submit` and `zbs run`.
struct ScriptHead {
    bool is_script = false;  ///< text that begins with "#!"
    std::vector<Directive> directives;
    std::vector<std::string> foreign;  ///< marks of other schedulers there, each once: "#SBATCH"
    std::vector<MistypedDirective> mistyped;
    std::size_t too_late = 0;  ///< line of the first "#ZBS" below the first command; 0: none
};

/// Of a file, at most so much is looked at; a line that is cut there is no directive.
constexpr std::size_t kMaxScriptHead = 64 * 1024;
constexpr std::size_t kMaxDirectives = 200;

/// The lines "#ZBS ..." above the first command of a script; lines like "#ZBSX" and "# ZBS" are comments. Words are
/// separated by blanks; '...' and "..." join, a backslash takes the next character as it is (within '...' never, within
/// "..." only $, `, " and \), a word that begins with # begins a comment. Nothing is expanded. A file that does not
/// begin with "#!" or holds a null byte is no script and has no directives. Errors (kInvalidArgument, pointer "line
/// N"): a quote that does not end, a backslash at the end, too many directives.
Result<ScriptHead> read_script_head(std::string_view text);

}  // namespace zbs::cli
