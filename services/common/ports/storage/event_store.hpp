#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/event.hpp"
#include "services/common/messages/registry.hpp"

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

/// How far the clock of a zone has been believed. Durability and errors: as of `ZoneStore`.
class ClockStore {
  public:
    virtual ~ClockStore() = default;

    /// The wall clock when it was last believed; none where that was never noted.
    virtual Result<std::optional<Time>> believed_time() = 0;
    virtual Result<void> record_believed_time(Time now) = 0;
};

/// The zones that a home knows. Durability and errors: as of `ZoneStore`.
class PeerStore {
  public:
    virtual ~PeerStore() = default;

    virtual Result<void> save(const Peer& peer) = 0;
    virtual Result<std::vector<Peer>> load_peers() = 0;
};

}  // namespace zbs
