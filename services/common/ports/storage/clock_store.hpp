#pragma once
#include <optional>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {

/// How far the clock of a zone has been believed. Durability and errors: as of `ZoneStore`.
class ClockStore {
  public:
    virtual ~ClockStore() = default;

    /// The wall clock when it was last believed; none where that was never noted.
    virtual Result<std::optional<Time>> believed_time() = 0;
    virtual Result<void> record_believed_time(Time now) = 0;
};

}  // namespace zbs
