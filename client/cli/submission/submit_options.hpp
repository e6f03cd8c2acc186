#pragma once

#include "client/cli/submission/submit_request.hpp"

namespace CLI {
class App;
}

/// The options of `zbs run` and `zbs submit`, from the command line and from a script.
namespace zbs::cli {

void add_submit_options(CLI::App& command, SubmitOptions& options);

/// Where the program is a script, its `#ZBS` lines set the options of `command` that were not given on the command
/// line; an option that may be repeated is taken whole from the one or the other. The program becomes an absolute path,
/// so that a folder set by the script does not change which script is meant. A program that cannot be found or read is
/// left to `make_request`. Errors (kInvalidArgument; the pointer names file and line): no option of `zbs submit`, or
/// one for the command line only; a value that the option refuses.
Result<void> apply_directives(CLI::App& command, SubmitOptions& options);

}  // namespace zbs::cli
