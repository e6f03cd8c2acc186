#include <algorithm>

#include "services/common/messages/application.hpp"
#include "services/common/messages/capacity.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {

std::string launch_operation(const PartId& part) { return "run-" + to_string(part); }

const char* direction_word(const std::optional<PeeringState>& state) { return state ? to_string(*state) : "none"; }

void add_event(std::vector<ApplicationEvent>& events, ApplicationEvent event) {
    event.answer = event.answer.substr(0, kMaxEventText);
    const auto same = std::find_if(events.rbegin(), events.rend(), [&](const ApplicationEvent& known) {
        return known.zone == event.zone && known.what == event.what;
    });
    if (same != events.rend() && same->answer == event.answer && same->ok == event.ok && same->round == event.round) {
        ++same->times;
        same->last = event.at;
        return;
    }
    event.last = event.at;
    if (events.size() >= kMaxEvents) events.erase(events.begin());
    events.push_back(std::move(event));
}

}  // namespace zbs
