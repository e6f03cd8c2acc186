#include "services/common/listing/rows.hpp"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/base/text.hpp"
#include "algorithms/base/utf8.hpp"

namespace zbs::listing {
namespace {

using codec::Json;

std::string key_of(std::string_view title) {
    std::string key;
    for (const char c : title) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (c == '%')
            key += "percent";
        else if (!key.empty() && key.back() != '_')
            key += '_';
    }
    return key;
}

/// A column as an option names it.
struct NamedColumn {
    std::size_t index = 0;
    bool as_member = false;
};

Result<NamedColumn> find_column(const Listing& listing, std::string_view name, const std::string& option) {
    const std::string wanted = key_of(name);
    std::vector<std::string> known;
    for (std::size_t i = 0; i < listing.columns.size(); ++i) {
        const Column& column = listing.columns[i];
        if (column.key() == wanted) return NamedColumn{i, column.as_member};
        if (!column.member.empty() && key_of(column.member) == wanted) return NamedColumn{i, true};
        known.push_back(column.key());
        if (!column.member.empty()) known.push_back(column.member);
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    return invalid("there is no column '" + harmless_line(name) + "'" + did_you_mean(wanted, names), option);
}

std::optional<double> number_in(std::string_view text) {
    const auto number = parse_number<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Whether each row has its own item.
bool has_items(const Listing& listing) { return listing.items.size() == listing.rows.size(); }

/// Null where the item has no such member.
Json member_of(const Json& item, std::string_view path) {
    const Json* at = &item;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('.'), path.size());
        const auto found = at->is_object() ? at->find(std::string(path.substr(0, end))) : at->end();
        if (found == at->end()) return {};
        at = &*found;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return *at;
}

/// What each row says in a column; where the service says it in a member of another name, and that was asked for, its
/// value as it is.
std::vector<Cell> cells_of(const Listing& listing, const NamedColumn& column) {
    std::vector<Cell> cells;
    for (std::size_t row = 0; row < listing.rows.size(); ++row) {
        cells.push_back(listing.rows[row][column.index]);
        if (!column.as_member || !has_items(listing)) continue;
        Json said = member_of(listing.items[row], listing.columns[column.index].member);
        if (said.is_null())
            cells.back() = Cell("-");
        else if (said.is_string())
            cells.back() = Cell(said.get<std::string>());
        else
            cells.back() = Cell(codec::dump(said), said);
    }
    return cells;
}

std::optional<double> number_of(const Cell& cell) {
    return cell.value.is_number() ? cell.value.get<double>() : number_in(cell.text);
}

/// < 0, 0 or > 0.
template <class Value>
int order_of(const Value& a, const Value& b) {
    return a < b ? -1 : b < a ? 1 : 0;
}

/// Before by value; cells without one come last, in whichever direction.
bool comes_before(const Cell& a, const Cell& b, bool descending, bool& equal) {
    equal = false;
    if (a.value.is_null() || b.value.is_null()) {
        equal = a.value.is_null() && b.value.is_null();
        return !a.value.is_null() && b.value.is_null();
    }
    const auto left = number_of(a), right = number_of(b);
    // Numbers before texts, so that the order is one.
    const int order = left && right ? order_of(*left, *right) : left ? -1 : right ? 1 : order_of(a.text, b.text);
    equal = order == 0;
    return descending ? order > 0 : order < 0;
}

struct Condition {
    std::vector<Cell> cells;  ///< of each row
    std::string operation, operand;
};

Result<Condition> parse_condition(const Listing& listing, const std::string& text) {
    const std::size_t at = text.find_first_of("=!<>~");
    if (at == std::string::npos || at == 0 || (text[at] == '!' && text.substr(at, 2) != "!="))
        return invalid("'" + harmless_line(text) + "' is no filter; write column=value, or with !=, <, >, <=, >=, ~",
                       "--filter");
    const Result<NamedColumn> column = find_column(listing, text.substr(0, at), "--filter");
    if (!column) return column.error();
    const bool two = at + 1 < text.size() && text[at + 1] == '=' && text[at] != '~';
    return Condition{cells_of(listing, *column), two && text[at] == '=' ? "=" : text.substr(at, two ? 2 : 1),
                     text.substr(at + (two ? 2 : 1))};
}

bool holds(const Condition& condition, const Cell& cell) {
    const std::string& operation = condition.operation;
    if (operation == "~") return cell.text.find(condition.operand) != std::string::npos;
    const auto left = number_of(cell), right = number_in(condition.operand);
    const bool is_equal = left && right
                              ? *left == *right
                              : cell.text == condition.operand || (cell.value.is_null() && condition.operand.empty());
    if (operation == "=") return is_equal;
    if (operation == "!=") return !is_equal;
    if (cell.value.is_null()) return false;
    const int order = left && right ? order_of(*left, *right) : order_of(cell.text, condition.operand);
    if (operation == "<") return order < 0;
    if (operation == ">") return order > 0;
    return operation == "<=" ? order <= 0 : order >= 0;
}

struct SortKey {
    std::vector<Cell> cells;  ///< of each row
    bool descending;
};

Result<std::vector<SortKey>> sort_keys(const Listing& listing, const std::vector<std::string>& names) {
    std::vector<SortKey> keys;
    for (const std::string& name : names) {
        const bool descending = name.starts_with('-');
        const Result<NamedColumn> column = find_column(listing, name.substr(descending ? 1 : 0), "--sort");
        if (!column) return column.error();
        keys.push_back({cells_of(listing, *column), descending});
    }
    return keys;
}

Json item_of(const Listing& listing, const std::vector<Cell>& row) {
    Json item = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) item[listing.columns[i].key()] = row[i].value;
    return item;
}

/// Only the rows `kept`, in their order; items follow where there is one for each row.
void keep_rows(Listing& listing, const std::vector<std::size_t>& kept) {
    const bool paired = has_items(listing);
    std::vector<std::vector<Cell>> rows;
    Json items = Json::array();
    for (const std::size_t index : kept) {
        if (paired) items.push_back(listing.items[index]);
        rows.push_back(std::move(listing.rows[index]));
    }
    listing.rows = std::move(rows);
    listing.items = std::move(items);
}

Result<void> keep_columns(Listing& listing, const std::vector<std::string>& names) {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows(listing.rows.size());
    for (const std::string& name : names) {
        const Result<NamedColumn> found = find_column(listing, name, "--columns");
        if (!found) return found.error();
        Column column = listing.columns[found->index];
        column.wide = false;
        column.as_member = found->as_member;
        if (std::ranges::find(columns, column.key(), &Column::key) != columns.end()) continue;
        const std::vector<Cell> said = cells_of(listing, *found);
        for (std::size_t i = 0; i < rows.size(); ++i)  // for people as before
            rows[i].emplace_back(listing.rows[i][found->index].text, said[i].value);
        columns.push_back(std::move(column));
    }
    listing.columns = std::move(columns);
    listing.rows = std::move(rows);
    listing.name = 0;
    listing.items = Json::array();
    for (const std::vector<Cell>& row : listing.rows) listing.items.push_back(item_of(listing, row));
    return {};
}

/// By the tables of the C library, whatever the locale of this process.
std::size_t width_of(char32_t c) {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (c < 0x300 || utf8 == nullptr) return 1;
    const locale_t before = uselocale(utf8);
    const int width = wcwidth(static_cast<wchar_t>(c));
    uselocale(before);
    return width < 0 ? 1 : static_cast<std::size_t>(width);
}

}  // namespace

std::string Column::key() const { return as_member ? member : key_of(title); }

Result<Listing> chosen(Listing listing, const RowChoice& choice) {
    if (choice.no_header) listing.has_header = false;
    if (choice.empty()) return listing;
    std::vector<Condition> conditions;
    for (const std::string& text : choice.filters) {
        Result<Condition> condition = parse_condition(listing, text);
        if (!condition) return condition.error();
        conditions.push_back(*std::move(condition));
    }
    const Result<std::vector<SortKey>> keys = sort_keys(listing, choice.sort);
    if (!keys) return keys.error();
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < listing.rows.size(); ++i) {
        const auto true_here = [&](const Condition& c) { return holds(c, c.cells[i]); };
        if (std::ranges::all_of(conditions, true_here)) kept.push_back(i);
    }
    std::ranges::stable_sort(kept, [&](std::size_t a, std::size_t b) {
        for (const SortKey& key : *keys) {
            bool equal = false;
            const bool before = comes_before(key.cells[a], key.cells[b], key.descending, equal);
            if (!equal) return before;
        }
        return false;
    });
    keep_rows(listing, kept);
    if (!choice.columns.empty())
        if (Result<void> done = keep_columns(listing, choice.columns); !done) return done.error();
    return listing;
}

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const CodePoint c = front_of(text);
        width += c.length == 0 ? 1 : width_of(c.value);
        text.remove_prefix(std::max<std::size_t>(c.length, 1));
    }
    return width;
}

std::string cut_to(std::string_view text, std::size_t rows, std::size_t columns) {
    std::string out;
    std::size_t row = 0, column = 0;
    while (!text.empty() && row < rows) {
        const CodePoint c = front_of(text);
        const std::size_t length = std::max<std::size_t>(c.length, 1);
        if (c.value == U'\n') {
            out += '\n';
            ++row;
            column = 0;
        } else {
            column += c.length == 0 ? 1 : width_of(c.value);
            if (column <= columns) out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return out;
}

}  // namespace zbs::listing
