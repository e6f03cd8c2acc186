#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/listing/rows.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// What programs print, and the options that say how.
namespace zbs::command_line {

/// Those of `listing::output_formats()` that one document can have: no rows, no column of names.
const std::vector<std::string>& document_formats();

/// -o of a command, into `format`. A word that is none of `formats` is refused with the nearest.
CLI::Option* add_format_option(CLI::App& command, std::string& format, const std::vector<std::string>& formats,
                               const std::string& more = "");

/// --columns, --sort and --filter of a command that prints a list; `empty` is one without rows, whose columns
/// completion offers, and beside them `filters`, e.g. "state=running".
void add_list_options(CLI::App& command, listing::RowChoice& choice, const listing::Listing& empty,
                      const std::vector<std::string>& filters = {});

/// How one command of an operator prints: what its options say, else ZBS_OUTPUT, else `preset`. It must outlive the
/// parsing.
class Output {
  public:
    /// Of a document ZBS_OUTPUT, which is about all commands, may name a format of lists: `preset` then.
    enum class Kind { kList, kDocument };
    explicit Output(Kind kind, std::string preset = "table") : kind_(kind), preset_(std::move(preset)) {}

    /// -o, and --json as a short form of it; of a list --columns, --sort and --filter, where `empty` has its columns.
    void add_to(CLI::App& command, const listing::Listing& empty = {});

    /// Whether it can print as it is to: nobody has checked ZBS_OUTPUT before, so that a service starts whatever that
    /// says. To be asked before anything is done. Errors: kInvalidArgument.
    Result<void> check() const;
    std::string format() const;
    bool for_people() const { return format() == "table" || format() == "wide"; }
    bool for_json() const { return format() == "json" || format() == "jsonl"; }
    /// Whether rows or columns are chosen, or the rows wanted alone.
    bool has_choice() const { return !choice_.empty() || choice_.no_header; }

    /// The rows that were asked for. `whole` is what the service said, if the list is a member of that: `json` prints
    /// it as it is unless rows or columns are chosen. Errors: as `listing::chosen`.
    Result<void> print(const listing::Listing& listing, const codec::Json& whole = {}) const;
    /// `text` for people, else the document.
    void print_document(const codec::Json& document, const std::string& text) const;

  private:
    const std::vector<std::string>& formats() const;

    Kind kind_;
    std::string preset_, asked_;
    listing::RowChoice choice_;
};

/// -o and --json of a command that does something; what it returns prints what was done.
std::shared_ptr<Output> add_outcome(CLI::App& command);

/// The word behind -o among the own words of a command line, however little of it could be parsed; nothing where there
/// is no -o.
std::optional<std::string> asked_format(const std::vector<std::string>& words);

/// Whether the own words of a command line, or ZBS_OUTPUT, ask for JSON, likewise.
bool asks_for_json(const std::vector<std::string>& words);

}  // namespace zbs::command_line
