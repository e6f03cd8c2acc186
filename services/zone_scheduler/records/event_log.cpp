#include "services/zone_scheduler/records/event_log.hpp"

#include <algorithm>

namespace zbs {

Result<void> EventLog::resume() {
    const Result<std::uint64_t> last = store_.last_event();
    if (!last) return last.error();
    last_ = *last;
    return {};
}

void EventLog::application_entered(const Application& application) {
    add({.at = application.status.history.back().at,
         .application = application.request.id,
         .owner = application.owner,
         .state = to_string(application.status.state),
         .reason = application.status.reason});
}

void EventLog::part_entered(const PartRecord& part) {
    add({.at = clock_.now(),
         .application = part.request.application,
         .part = part.request.id,
         .state = to_string(part.status.state),
         .reason = part.status.reason});
}

void EventLog::add(StateEvent event) {
    event.id =
        std::max(static_cast<std::uint64_t>(std::max<std::int64_t>(to_microseconds(clock_.now()), 1)), last_ + 1);
    if (auto written = store_.append(event); !written) {
        log_.warn("event_not_stored", {{"application", to_string(event.application)},
                                       {"state", event.state},
                                       {"reason", written.error().message}});
        event.id = 0;
        return lost_(event);
    }
    last_ = event.id;
    stored_(event);
}

}  // namespace zbs
