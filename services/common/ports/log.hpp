#pragma once
#include <string>
#include <utility>
#include <vector>

namespace zbs {

/// One structured line per event: a short name and fields. Values are escaped by the adapter.
class Log {
  public:
    using Fields = std::vector<std::pair<const char*, std::string>>;
    virtual ~Log() = default;
    virtual void info(const char* event, const Fields& fields) = 0;
    virtual void warn(const char* event, const Fields& fields) = 0;
};

}  // namespace zbs
