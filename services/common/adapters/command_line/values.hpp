#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

/// Checks of option values; the error of each names a value to give instead. Help, man pages and completion read them
/// as they read the parser's own.
namespace CLI {
class Option;
}
namespace zbs::command_line {

/// A whole number in [least, most].
CLI::Validator whole_number_in(std::int64_t least, std::int64_t most);
/// A decimal number of 0 or more that fits into 64 bits: CLI11 makes a large number of -1, and 8 of 010.
CLI::Validator natural_number();
/// A number in [least, most]; nan is none.
CLI::Validator number_in(double least, double most);
/// One of `words`; the error for a slip names the nearest.
CLI::Validator one_of(const std::vector<std::string>& words);
/// Anything but the empty text, which an unset variable of a shell makes, too. `remedy` completes "it is empty; ".
CLI::Validator something(const std::string& remedy);
/// Adds an option that takes lists with commas, and may be repeated: `into` has their elements, of which none is empty
/// or blank. CLI11's own delimiter would drop those without an error, and an unset variable of a shell makes them.
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                      const std::string& text);
/// A span of time in [least, most], with its unit: a bare number is minutes to users of Slurm and seconds to others,
/// and a job that is ended too early is lost.
CLI::Validator span_of_time(std::chrono::seconds least, std::chrono::seconds most);
/// A name as identities have them, of `what` ("an organisation"): what it says is safe as one step of a path.
CLI::Validator name_of(const std::string& what);
/// The fingerprint of a bundle, sha256: and 64 hexadecimal digits; also the empty text, which `something` rejects.
CLI::Validator fingerprint();
/// A file that exists.
CLI::Validator existing_file();
/// Bytes, or an amount with a unit (512MB, 2GiB), which becomes bytes.
CLI::Validator amount_of_bytes();

/// The instant that --since names: "6h" and "-6h" are that long before `now` (any form of `parse_duration`);
/// "2026-11-24", "2026-11-24 13:00" and "2026-11-24T13:00:05" are on this machine's clock, "...Z" and "...+01:00" (RFC
/// 3339) wherever they say. Errors: kInvalidArgument, naming --since.
Result<Time> parse_since(std::string_view text, Time now);

/// Whether `now` makes a difference to `parse_since`: how long ago, where it is a time at all.
bool counts_from_now(std::string_view text);

/// --since of a command that lists what was. `text` is checked by the parsing.
void add_since_option(CLI::App& command, std::string& text);

/// What completion offers for the value of an option or argument that takes other values as well.
struct Offers {
    std::vector<std::string> words;  ///< of letters, digits and = . _ - : alone
    bool is_list = false;            ///< several may be given, with commas
    std::string kind{};        ///< what the program's hidden command `complete KIND` finds more of; empty: nothing
    bool is_file_too = false;  ///< with a kind: file names are offered besides
    bool operator==(const Offers&) const = default;
    bool empty() const { return words.empty() && kind.empty(); }
};

/// Neither --help nor the parser know of it.
void offer(CLI::Option* option, const Offers& offers);
Offers offers_of(const CLI::Option& option);

}  // namespace zbs::command_line
