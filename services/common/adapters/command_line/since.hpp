#pragma once
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace CLI {
class App;
}

namespace zbs::command_line {

/// The instant that --since names: "6h" and "-6h" are that long before `now` (any form of `parse_duration`);
/// "2026-11-24", "2026-11-24 13:00" and "2026-11-24T13:00:05" are on this machine's clock, "...Z" and "...+01:00" (RFC
/// 3339) wherever they say. Errors: kInvalidArgument, naming --since.
Result<Time> parse_since(std::string_view text, Time now);

/// Whether `now` makes a difference to `parse_since`: how long ago, where it is a time at all.
bool counts_from_now(std::string_view text);

/// --since of a command that lists what was. `text` is checked by the parsing.
void add_since_option(CLI::App& command, std::string& text);

}  // namespace zbs::command_line
