#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_folder.hpp"

namespace zbs::test {

/// A row of authorisation.tsv.
struct ActionRow {
    std::string action;
    std::string service;
    std::string object;
    std::map<std::string, std::string> cells;  ///< by column
};

inline std::vector<ActionRow> read_authorisation_table() {
    std::ifstream in(zbs::test::source_folder() + "/tests/unit/site_policy/authorisation.tsv");
    std::vector<std::string> columns;
    std::vector<ActionRow> rows;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        std::vector<std::string> cells;
        std::istringstream parts(line);
        for (std::string cell; std::getline(parts, cell, '\t');) cells.push_back(cell);
        if (columns.empty()) {
            columns = cells;
            continue;
        }
        EXPECT_EQ(cells.size(), columns.size()) << line;
        if (cells.size() != columns.size()) continue;
        ActionRow row{cells[0], cells[1], cells[2], {}};
        for (std::size_t i = 3; i < cells.size(); ++i) row.cells[columns[i]] = cells[i];
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace zbs::test
