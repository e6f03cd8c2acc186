#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace zbs::bench {

/// One table; a cell is a text, a number or nothing.
struct Table {
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<nlohmann::json>> rows;
};

/// Prints tables as they come and keeps them for --json.
class Report {
  public:
    void add(const Table& table);
    void say(const std::string& text);
    /// {"command":...,"cores":...,"tables":[{"title","rows":[{column: cell}]}]}
    nlohmann::json json(const std::string& command, unsigned cores) const;

  private:
    std::vector<Table> tables_;
    std::vector<std::string> notes_;
};

}  // namespace zbs::bench
