#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "algorithms/base/utf8.hpp"
#include "services/common/codec/json/document_text.hpp"
#include "services/common/listing/rows.hpp"

namespace zbs::listing {
namespace {

using codec::Json;

/// Of a column as wide as an instant with milliseconds, or narrower, nothing is left out.
constexpr std::size_t kMinCut = 26;
constexpr std::size_t kMinLeft = 10;

/// Whether texts of the column can be cut: names of rows and of callers are to be typed again.
bool can_be_cut(const Listing& listing, std::size_t column) {
    const auto is_text = [column](const std::vector<Cell>& row) { return row[column].value.is_string(); };
    const auto is_caller = [column](const std::vector<Cell>& row) { return row[column].text.starts_with("spiffe://"); };
    return column != listing.name && std::ranges::any_of(listing.rows, is_text) &&
           std::ranges::none_of(listing.rows, is_caller);
}

/// Makes the widest of the columns that can be cut narrower until all fit into `width`, as far as that goes.
void narrow(const Listing& listing, const std::vector<std::size_t>& columns, std::vector<std::size_t>& widths,
            std::size_t width) {
    std::vector<std::size_t> least = widths;
    std::size_t all = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        all += widths[i] + (i > 0 ? 2 : 0);
        const std::size_t title = listing.has_header ? width_of(listing.columns[columns[i]].title) : 0;
        if (widths[i] >= kMinCut && can_be_cut(listing, columns[i])) least[i] = std::max(title, kMinLeft);
    }
    while (all > width) {
        std::size_t widest = columns.size();
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (widths[i] > least[i] && (widest == columns.size() || widths[i] >= widths[widest])) widest = i;
        if (widest == columns.size()) return;
        --widths[widest];
        --all;
    }
}

std::string fitted(const std::string& text, std::size_t width) {
    return width_of(text) <= width ? text : cut_to(text, 1, width - 3) + "...";
}

/// The columns of a terminal that each column of the table fills if nothing is cut.
std::vector<std::size_t> widths_of(const Listing& listing, const std::vector<std::size_t>& columns) {
    std::vector<std::size_t> widths;
    for (const std::size_t i : columns) {
        widths.push_back(listing.has_header ? width_of(harmless_line(listing.columns[i].title)) : 0);
        for (const auto& row : listing.rows)
            widths.back() = std::max(widths.back(), width_of(harmless_line(row[i].text)));
    }
    return widths;
}

/// The words of a text on lines that begin with two blanks, of at most `width` columns where no word is longer.
std::string below(const std::string& text, std::size_t width) {
    std::string out, line;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (!line.empty() && width_of(line) + width_of(word) + 3 > width) out += "  " + std::exchange(line, {}) + "\n";
        line += (line.empty() ? "" : " ") + word;
        begin = end + 1;
    }
    return line.empty() ? out : out + "  " + line + "\n";
}

std::string table_text(const Listing& listing, bool wide, std::size_t width, bool is_terminal) {
    std::vector<std::size_t> columns, explanations;
    for (std::size_t i = 0; i < listing.columns.size(); ++i)
        if (wide || !listing.columns[i].wide) columns.push_back(i);
    std::vector<std::size_t> widths = widths_of(listing, columns);
    const std::size_t all = std::accumulate(widths.begin(), widths.end(), 2 * columns.size()) - 2;
    if (is_terminal && all > width) {
        const auto explains = [&](std::size_t i) { return listing.columns[i].explains; };
        std::ranges::copy_if(columns, std::back_inserter(explanations), explains);
        std::erase_if(columns, explains);
        widths = widths_of(listing, columns);
    }
    std::vector<std::vector<std::string>> lines(1);
    for (const std::size_t i : columns) lines[0].push_back(harmless_line(listing.columns[i].title));
    for (const auto& row : listing.rows) {
        lines.emplace_back();
        for (const std::size_t i : columns) lines.back().push_back(harmless_line(row[i].text));
    }
    narrow(listing, columns, widths, width);
    std::string text;
    for (std::size_t number = listing.has_header ? 0 : 1; number < lines.size(); ++number) {
        const std::vector<std::string>& line = lines[number];
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const std::string cell = fitted(line[i], widths[i]);
            row += cell;
            if (i + 1 < line.size()) row += std::string(widths[i] - width_of(cell) + 2, ' ');
        }
        row = fitted(row, width);
        text += row + "\n";
        for (const std::size_t i : explanations)
            if (number > 0) text += below(harmless_line(listing.rows[number - 1][i].text), width);
    }
    return text;
}

/// Numbers as they are; of texts line ends stay, inside the quotes.
std::string csv_field(const Cell& cell) {
    if (cell.value.is_null()) return {};
    if (cell.value.is_number()) return codec::dump(cell.value);
    std::string text, rest = cell.text;
    for (std::size_t begin = 0; begin <= rest.size();) {
        const std::size_t end = std::min(rest.find('\n', begin), rest.size());
        text += harmless_line(std::string_view(rest).substr(begin, end - begin)) + (end < rest.size() ? "\n" : "");
        begin = end + 1;
    }
    if (!text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos) text.insert(0, 1, '\'');
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string csv_text(const Listing& listing) {
    std::string text;
    for (std::size_t i = 0; listing.has_header && i < listing.columns.size(); ++i)
        text += (i > 0 ? "," : "") +
                csv_field(Cell(listing.columns[i].as_member ? listing.columns[i].member : listing.columns[i].title));
    if (listing.has_header) text += "\n";
    for (const auto& row : listing.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) text += (i > 0 ? "," : "") + csv_field(row[i]);
        text += "\n";
    }
    return text;
}

Json items_of(const Listing& listing) {
    if (!listing.items.empty()) return listing.items;
    Json items = Json::array();
    for (const auto& row : listing.rows) {
        Json item = Json::object();
        for (std::size_t i = 0; i < row.size(); ++i) item[listing.columns[i].key()] = row[i].value;
        items.push_back(std::move(item));
    }
    return items;
}

}  // namespace

std::string harmless_line(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const CodePoint c = front_of(text);
        const std::size_t length = std::max<std::size_t>(c.length, 1);
        if (c.length == 0 || is_deceptive(c.value))
            out += '?';
        else
            out += text.substr(0, length);
        text.remove_prefix(length);
    }
    return out;
}

const std::vector<std::string>& output_formats() {
    static const std::vector<std::string> kFormats{"table", "wide", "json", "jsonl", "csv", "name"};
    return kFormats;
}

std::string written(const Listing& listing, std::string_view format, std::size_t width, bool is_terminal) {
    if (format == "json")
        return codec::document_text(codec::list_document(listing.noun, items_of(listing), listing.truncated));
    if (format == "csv") return csv_text(listing);
    std::string text;
    if (format == "jsonl") {
        for (const Json& item : items_of(listing)) text += codec::dump(item) + "\n";
    } else if (format == "name") {
        for (const auto& row : listing.rows) text += harmless_line(row.at(listing.name).text) + "\n";
    } else {
        const bool wide = format == "wide";
        text = table_text(listing, wide, wide ? kAnyWidth : width, is_terminal);
    }
    return text;
}

}  // namespace zbs::listing
