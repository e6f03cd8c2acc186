#include "services/common/adapters/command_line/output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/codec/json/document_text.hpp"

namespace zbs::command_line {
namespace {

constexpr const char* kVariable = "ZBS_OUTPUT";

/// Empty where it is one.
std::string fault_of(const std::string& word, const std::vector<std::string>& formats) {
    if (std::ranges::find(formats, word) != formats.end()) return {};
    const std::vector<std::string>& all = listing::output_formats();
    if (std::ranges::find(all, word) != all.end())
        return word + " is for lists; this command prints " + joined(formats, ", ", " or ");
    const std::vector<std::string_view> names(formats.begin(), formats.end());
    return "there is no format '" + listing::harmless_line(word) + "'" + did_you_mean(word, names);
}

}  // namespace

const std::vector<std::string>& document_formats() {
    static const std::vector<std::string> kFormats{"table", "wide", "json", "jsonl"};
    return kFormats;
}

CLI::Option* add_format_option(CLI::App& command, std::string& format, const std::vector<std::string>& formats,
                               const std::string& more) {
    std::string words;  // as CLI11 writes a set: man pages and completion read it
    for (const std::string& word : formats) words += (words.empty() ? "{" : ",") + word;
    const CLI::Validator known([formats](const std::string& word) { return fault_of(word, formats); }, words + "}");
    return command.add_option("-o,--output", format, joined(formats, ", ", " or ") + more)->check(known);
}

void add_list_options(CLI::App& command, listing::RowChoice& choice, const listing::Listing& empty,
                      const std::vector<std::string>& filters) {
    Offers columns{.words = {}, .is_list = true}, conditions;
    std::string wide;
    for (const listing::Column& column : empty.columns)
        if (column.wide) wide += (wide.empty() ? "" : ",") + column.key();
    for (const listing::Column& column : empty.columns) {
        columns.words.push_back(column.key());
        conditions.words.push_back(column.key() + "=");
    }
    conditions.words.insert(conditions.words.end(), filters.begin(), filters.end());
    offer(add_list(command, "--columns", choice.columns,
                   "only these columns, in this order: state,ranks; by their titles or as JSON calls them, here as in "
                   "--sort and --filter; -o wide " +
                       (wide.empty() ? "has no more than a table" : "has also " + wide))
              ->take_all(),
          columns);
    offer(add_list(command, "--sort", choice.sort, "by these columns; -COLUMN from large to small")->take_all(),
          columns);
    offer(command
              .add_option("--filter", choice.filters,
                          "only rows where this holds: COLUMN=VALUE, or with !=, <, >, <=, >=, ~ (holds the text); may "
                          "be repeated")
              ->take_all()
              ->allow_extra_args(false),
          conditions);
    command.add_flag("--no-header", choice.no_header, "tables and csv: the rows alone");
}

void Output::add_to(CLI::App& command, const listing::Listing& empty) {
    add_format_option(command, asked_, formats(),
                      "; default: what the variable " + std::string(kVariable) + " says, else " + preset_);
    command.add_flag_callback(
        "--json",
        [this] {
            if (!asked_.empty() && asked_ != "json")
                throw CLI::ValidationError("--json", "contradicts -o " + asked_ + "; give one of them");
            asked_ = "json";
        },
        "short for -o json: as the service says it, instants in _us since 1970, durations in _s");
    if (kind_ == Kind::kList) add_list_options(command, choice_, empty);
}

Result<void> Output::check() const {
    const std::string fault = fault_of(format(), formats());
    if (fault.empty()) return {};
    return invalid(fault, kVariable);
}

std::string Output::format() const {
    if (!asked_.empty()) return asked_;
    const char* const variable = std::getenv(kVariable);
    const std::string said = variable == nullptr || *variable == 0 ? preset_ : variable;
    const auto has = [&](const std::vector<std::string>& words) {
        return std::ranges::find(words, said) != words.end();
    };
    return kind_ == Kind::kDocument && has(listing::output_formats()) && !has(formats()) ? preset_ : said;
}

Result<void> Output::print(const listing::Listing& listing, const codec::Json& whole) const {
    const std::string form = format();
    if (choice_.empty() && whole.is_object() && form == "json") {
        std::cout << codec::document_text(whole);
        return {};
    }
    const Result<listing::Listing> rows = listing::chosen(listing, choice_);
    if (!rows) return rows.error();
    std::cout << listing::written(*rows, form, table_width());
    return {};
}

void Output::print_document(const codec::Json& document, const std::string& text) const {
    std::cout << (for_people() ? text : codec::document_text(document));
}

const std::vector<std::string>& Output::formats() const {
    return kind_ == Kind::kList ? listing::output_formats() : document_formats();
}

std::shared_ptr<Output> add_outcome(CLI::App& command) {
    auto output = std::make_shared<Output>(Output::Kind::kDocument);
    output->add_to(command);
    return output;
}

std::optional<std::string> asked_format(const std::vector<std::string>& words) {
    std::optional<std::string> format;
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        const std::string& word = words[i];
        if (word == "-o" || word == "--output")
            format = i + 1 < words.size() ? words[i + 1] : "";
        else if (word.starts_with("--output="))
            format = word.substr(9);
        else if (word.starts_with("-o"))
            format = word.substr(word[2] == '=' ? 3 : 2);
    }
    return format;
}

bool asks_for_json(const std::vector<std::string>& words) {
    const char* const variable = std::getenv(kVariable);
    const auto is_json = [](const std::string& format) { return format == "json" || format == "jsonl"; };
    if (const std::optional<std::string> asked = asked_format(words)) return is_json(*asked);
    if (std::find(words.begin(), std::ranges::find(words, "--"), "--json") != std::ranges::find(words, "--"))
        return true;
    return variable != nullptr && is_json(variable);
}

}  // namespace zbs::command_line
