#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace zbs::cli {

struct Context;

/// --watch[=SECONDS] of a command, into `every`: empty where it was not given.
void add_watch_option(CLI::App& command, std::string& every);

/// Draws once; with `every`, again and again that long after each drawing has ended, until `draw` returns false, sets
/// an exit code, or nobody reads any more. What `draw` writes to standard output takes the place of the earlier text on
/// a terminal, cut to its size, and follows it elsewhere. No state of the terminal is changed: an interrupt just ends
/// it. Errors (exit code 2): `every` is no time of 0.1 s to a day.
void draw_repeatedly(Context& context, const std::string& every, const std::function<bool()>& draw);

}  // namespace zbs::cli
