#include "tests/benchmark/zbs_bench/mapping/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace zbs::bench {
namespace {

std::string shown(const nlohmann::json& cell) {
    if (cell.is_null()) return "-";
    if (cell.is_string()) return cell.get<std::string>();
    if (cell.is_boolean()) return cell.get<bool>() ? "yes" : "no";
    const auto value = cell.get<double>();
    char text[40];
    if (value == std::floor(value) && std::abs(value) < 1e12) {
        std::snprintf(text, sizeof text, "%.0f", value);
    } else {
        std::snprintf(text, sizeof text, std::abs(value) < 0.01 ? "%.3g" : "%.4f", value);
    }
    return text;
}

}  // namespace

void Report::add(const Table& table) {
    std::vector<std::size_t> width;
    for (const std::string& column : table.columns) width.push_back(column.size());
    std::vector<std::vector<std::string>> cells;
    for (const auto& row : table.rows) {
        cells.emplace_back();
        for (std::size_t c = 0; c < row.size(); ++c) {
            cells.back().push_back(shown(row[c]));
            width[c] = std::max(width[c], cells.back().back().size());
        }
    }
    const auto print = [&](const std::vector<std::string>& row) {
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string fill(width[c] - row[c].size(), ' ');
            std::cout << (c == 0 ? row[c] + fill : "  " + fill + row[c]);
        }
        std::cout << "\n";
    };
    std::cout << "\n## " << table.title << "\n\n";
    print(table.columns);
    for (const auto& row : cells) print(row);
    std::cout << std::flush;
    tables_.push_back(table);
}

void Report::say(const std::string& text) {
    std::cout << "\n" << text << std::endl;
    notes_.push_back(text);
}

nlohmann::json Report::json(const std::string& command, unsigned cores) const {
    nlohmann::json made = {{"command", command}, {"cores", cores}, {"notes", notes_}};
    for (const Table& table : tables_) {
        nlohmann::json rows = nlohmann::json::array();
        for (const auto& row : table.rows) {
            nlohmann::json named;
            for (std::size_t c = 0; c < row.size(); ++c) named[table.columns[c]] = row[c];
            rows.push_back(std::move(named));
        }
        made["tables"].push_back({{"title", table.title}, {"rows", std::move(rows)}});
    }
    return made;
}

}  // namespace zbs::bench
