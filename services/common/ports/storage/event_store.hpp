#pragma once
#include <cstdint>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/event.hpp"

namespace zbs {

/// Changes of state of applications and parts. Durability and errors: as of `ZoneStore`.
class EventStore {
  public:
    virtual ~EventStore() = default;

    /// Adds an event with an id above all others. Of its application (or part) the newest `kMaxEventsOfOne` stay; with
    /// the record of the one it is about all go.
    virtual Result<void> append(const StateEvent& event) = 0;
    /// Cost: that of the rows it gives, and for an owner or an application of no others.
    virtual Result<std::vector<StateEvent>> events(const EventQuery& query) = 0;
    virtual Result<std::uint64_t> last_event() = 0;  ///< id; 0 where there is none
};

}  // namespace zbs
