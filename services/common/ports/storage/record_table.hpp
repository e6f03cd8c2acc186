#pragma once
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs {

/// Whole records of one kind under their `key_of`. Durable as `ZoneStore` says; a failed call has changed nothing.
template <class Record>
class RecordTable {
  public:
    virtual ~RecordTable() = default;
    virtual Result<void> save(const Record& record) = 0;      ///< inserts or replaces
    virtual Result<void> remove(const std::string& key) = 0;  ///< also good where there is none
    virtual Result<std::vector<Record>> load() = 0;           ///< by key
};

}  // namespace zbs
