#pragma once
#include <functional>
#include <vector>

#include "services/common/messages/application.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/event_store.hpp"
#include "services/common/ports/storage/part_store.hpp"

namespace zbs {

/// Writes down each change of state of applications and parts, in the same step of the store as the change itself, and
/// notifies the listener. Ids are microseconds since 1970, or one more than the last where that is not less: so they
/// grow also after a backup was restored. Lives on the domain's strand.
class EventLog {
  public:
    using Listener = std::function<void(const StateEvent&)>;
    /// `stored` receives each event, which is not durable yet; `lost` one that could not be stored: its id is 0.
    EventLog(
        const Clock& clock, EventStore& store, Log& log, Listener stored = [](const StateEvent&) {},
        Listener lost = [](const StateEvent&) {})
        : clock_(clock), store_(store), log_(log), stored_(std::move(stored)), lost_(std::move(lost)) {}
    /// Errors: the store's.
    Result<void> resume();

    void application_entered(const Application& application);
    void part_entered(const PartRecord& part);

    /// Those that are stored, durable or not. Errors: the store's.
    Result<std::vector<StateEvent>> find(const EventQuery& query) const { return store_.events(query); }
    std::uint64_t last() const { return last_; }  ///< id; 0 before the first event

  private:
    void add(StateEvent event);

    const Clock& clock_;
    EventStore& store_;
    Log& log_;
    Listener stored_;
    Listener lost_;
    std::uint64_t last_ = 0;
};

}  // namespace zbs
