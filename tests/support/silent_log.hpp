#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "services/common/ports/log.hpp"

namespace zbs::test {

/// Log that prints nothing and remembers everything.
class SilentLog : public Log {
  public:
    struct Line {
        std::string event;
        Fields fields;
        bool warning = false;
    };
    void info(const char* event, const Fields& fields) override { lines.push_back({event, fields, false}); }
    void warn(const char* event, const Fields& fields) override { lines.push_back({event, fields, true}); }
    int count(const std::string& event) const {
        return static_cast<int>(
            std::count_if(lines.begin(), lines.end(), [&](const Line& line) { return line.event == event; }));
    }
    std::vector<Line> lines;
};

}  // namespace zbs::test
