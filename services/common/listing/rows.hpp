#pragma once
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/codec/json/json.hpp"

namespace zbs::listing {

/// What one row says in one column: a text for people, and a value to sort, filter and write by. "-" and "" mean
/// nothing, whose value is null.
struct Cell {
    std::string text;
    codec::Json value;

    Cell(std::string shown) : text(std::move(shown)) {
        if (!text.empty() && text != "-") value = text;
    }
    Cell(const char* shown) : Cell(std::string(shown)) {}
    template <std::integral Number>
    Cell(Number number) : text(std::to_string(number)), value(number) {}
    Cell(bool) = delete;
    /// A text for people that stands for `known`, e.g. "1.0 MiB" for 1048576.
    Cell(std::string shown, codec::Json known) : text(std::move(shown)), value(std::move(known)) {}
};

/// A column by its title, "OUTBOUND"; programs and options call it by its key, `outbound`.
struct Column {
    std::string title;
    bool wide = false;  ///< in tables only where somebody asks for it
    /// The member of the items that says the same under another name: `exit_code` of "EXIT", `trust.score` inside of
    /// another one. Options take both names; with this one the item's value counts, not the cell's. Empty: none.
    std::string member{};
    bool as_member = false;  ///< it was asked for by that name
    bool explains = false;   ///< a text about its row: on lines of its own where a terminal is too narrow

    Column(std::string name, bool only_wide = false) : title(std::move(name)), wide(only_wide) {}
    Column(const char* name) : title(name) {}
    Column(const char* name, const char* said_as, bool only_wide = false)
        : title(name), wide(only_wide), member(said_as) {}
    std::string key() const;
};

/// A list: rows of one cell per column. `items` holds what the service said of each row, for the formats of programs;
/// where it is empty the cells stand in for it.
struct Listing {
    std::string noun;  ///< what the rows are, in the plural: the key of the list in `json`
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows{};
    codec::Json items = codec::Json::array();
    std::size_t name = 0;    ///< the column that `-o name` prints
    bool truncated = false;  ///< there are or may be more rows: `json` has it
    bool has_header = true;  ///< of tables and `csv`
};

/// What `--columns`, `--sort` and `--filter` ask for.
struct RowChoice {
    std::vector<std::string> columns;  ///< names, in this order; empty: all
    std::vector<std::string> sort;     ///< names, the first weighs most; `-name` from large to small
    std::vector<std::string> filters;  ///< `name=value`, also != < > <= >= and ~ (holds the text); all must be true
    bool no_header = false;            ///< `--no-header`: rows alone
    /// Whether all rows and columns are wanted, as they are.
    bool empty() const { return columns.empty() && sort.empty() && filters.empty(); }
};

/// The rows, and the columns of them, that were asked for. Numbers compare as numbers, all else as the text that is
/// shown; rows that say nothing in a column sort last and pass only `=` nothing and `!=`. With `columns`, items are
/// made of the cells. Every option takes a column's key and the name of its member. Errors (kInvalidArgument, naming
/// the option): no such column, with the nearest name or all; no operator in a filter.
Result<Listing> chosen(Listing listing, const RowChoice& choice);

/// Formats of `-o`, in the order of the help.
const std::vector<std::string>& output_formats();

inline constexpr std::size_t kAnyWidth = static_cast<std::size_t>(-1);

/// The list in one of `output_formats()`, ended by a line end where there is anything:
/// `table` (without wide columns) and `wide` align; lines of `table` have at most `width` columns of a terminal: its
/// longest texts are cut, and end with "...", except those of `name`; `csv` is RFC 4180 with LF, a header and all
/// columns, where texts that a spreadsheet would calculate get a ' in front; `json` is the document {"version": 1,
/// NOUN: [items]}, with "truncated": true where it is; `jsonl` is an item a line, `name` the column of names.
/// `is_terminal`: where a `table` is wider, texts of columns that explain stand whole, on lines below their row.
std::string written(const Listing& listing, std::string_view format, std::size_t width = kAnyWidth,
                    bool is_terminal = false);

/// Text from another party on one line of a terminal: control characters (C0, DEL, C1), those that change the direction
/// of writing, and bytes that are no UTF-8 become '?'.
std::string harmless_line(std::string_view text);

/// Columns of a terminal that `text` fills on one line: wide characters (CJK, emoji) two, combining ones none. A byte
/// that is no UTF-8 fills one.
std::size_t width_of(std::string_view text);

/// The first `rows` lines of `text`, UTF-8, each cut to at most `columns` columns.
std::string cut_to(std::string_view text, std::size_t rows, std::size_t columns);

}  // namespace zbs::listing
