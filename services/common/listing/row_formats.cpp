#include <algorithm>

#include "services/common/codec/document_text.hpp"
#include "services/common/listing/rows.hpp"
#include "services/common/listing/text_width.hpp"

namespace zbs::listing {
namespace {

using codec::Json;

bool drives_terminals(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

std::string table_text(const Listing& listing, bool wide) {
    std::vector<std::size_t> columns, widths;
    for (std::size_t i = 0; i < listing.columns.size(); ++i)
        if (wide || !listing.columns[i].wide) columns.push_back(i);
    std::vector<std::vector<std::string>> lines(1);
    for (const std::size_t i : columns) lines[0].push_back(harmless_line(listing.columns[i].title));
    for (const auto& row : listing.rows) {
        lines.emplace_back();
        for (const std::size_t i : columns) lines.back().push_back(harmless_line(row[i].text));
    }
    if (!listing.has_header) lines.erase(lines.begin());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        widths.push_back(0);
        for (const auto& line : lines) widths.back() = std::max(widths.back(), width_of(line[i]));
    }
    std::string text;
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            text += line[i];
            if (i + 1 < line.size()) text += std::string(widths[i] - width_of(line[i]) + 2, ' ');
        }
        text += "\n";
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

/// Texts that no reader of YAML 1.1 or 1.2 takes for something else: letters first, then nothing that means anything.
bool is_plain(const std::string& text) {
    if (text.empty() || text.size() > 200) return false;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto is_inner = [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
    };
    if ((!is_letter(text[0]) && text[0] != '/') || !std::ranges::all_of(text, is_inner)) return false;
    std::string lower = text;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    for (const char* word : {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
        if (lower == word) return false;
    return true;
}

std::string yaml_scalar(const Json& value) {
    if (!value.is_string()) return codec::dump(value);
    const std::string text = codec::bounded(value.get<std::string>(), value.get_ref<const std::string&>().size() * 3);
    if (is_plain(text)) return text;
    std::string out = "\"";
    for (std::string_view rest = text; !rest.empty();) {
        const CodePoint c = front_of(rest);
        const std::size_t length = std::max<std::size_t>(c.length, 1);
        if (c.length == 0) {
            out += "\\ufffd";
        } else if (c.value == '"' || c.value == '\\') {
            out += std::string("\\") + rest[0];
        } else if (c.value == '\n') {
            out += "\\n";
        } else if (drives_terminals(c.value)) {
            constexpr char kDigits[] = "0123456789abcdef";
            out += "\\u";
            for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(c.value >> shift) & 0xf];
        } else {
            out += rest.substr(0, length);
        }
        rest.remove_prefix(length);
    }
    return out + "\"";
}

/// `json` after "key:" or "-", whose column is `indent`.
void add_yaml(std::string& out, const Json& json, std::size_t indent, bool in_sequence) {
    if (!json.is_structured() || json.empty()) {
        out += " " + (json.is_structured() ? std::string(json.is_array() ? "[]" : "{}") : yaml_scalar(json)) + "\n";
        return;
    }
    const bool compact = in_sequence && json.is_object();  // "- key: value", on the line of its dash
    if (!compact) out += "\n";
    const std::string margin(indent, ' ');
    bool first = true;
    for (const auto& [key, value] : json.items()) {
        out += compact && first ? " " : margin;
        first = false;
        out += json.is_array() ? "-" : yaml_scalar(key) + ":";
        add_yaml(out, value, indent + 2, json.is_array());
    }
}

}  // namespace

std::string harmless_line(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const CodePoint c = front_of(text);
        const std::size_t length = std::max<std::size_t>(c.length, 1);
        if (c.length == 0 || drives_terminals(c.value))
            out += '?';
        else
            out += text.substr(0, length);
        text.remove_prefix(length);
    }
    return out;
}

std::string yaml_text(const Json& json) {
    std::string out;
    add_yaml(out, json, 0, false);
    return out.substr(1);  // the blank of a scalar, or the line end of a block
}

std::string document_text(Json document, std::string_view format) {
    if (format != "yaml") return codec::document_text(std::move(document));
    document = codec::without_version(std::move(document));
    return "version: " + std::to_string(codec::kDocumentVersion) + "\n" + (document.empty() ? "" : yaml_text(document));
}

const std::vector<std::string>& output_formats() {
    static const std::vector<std::string> kFormats{"table", "wide", "json", "jsonl", "csv", "yaml", "name"};
    return kFormats;
}

std::string written(const Listing& listing, std::string_view format) {
    if (format == "json" || format == "yaml") {
        Json document = {{listing.noun, items_of(listing)}};
        if (listing.truncated) document["truncated"] = true;
        return document_text(std::move(document), format);
    }
    if (format == "csv") return csv_text(listing);
    std::string text;
    if (format == "jsonl") {
        for (const Json& item : items_of(listing)) text += codec::dump(item) + "\n";
    } else if (format == "name") {
        for (const auto& row : listing.rows) text += harmless_line(row.at(listing.name).text) + "\n";
    } else {
        text = table_text(listing, format == "wide");
    }
    return text;
}

}  // namespace zbs::listing
