#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "services/common/messages/application.hpp"
#include "services/common/messages/capacity.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/profile.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/states.hpp"

namespace zbs {

std::string launch_operation(const PartId& part) { return "run-" + to_string(part); }

std::vector<RankPlace> processors_in(const std::vector<RankPlace>& assignment) {
    std::set<std::pair<std::string_view, std::int32_t>> seen;
    std::vector<RankPlace> places;
    for (const RankPlace& place : assignment)
        if (seen.emplace(place.machine, place.processor).second) places.push_back(place);
    return places;
}

bool is_assignment_of(const std::vector<RankPlace>& assignment, const std::vector<TaskIndex>& ranks, int overcommit) {
    std::map<std::pair<std::string_view, std::int32_t>, int> ranks_on;
    for (const RankPlace& place : assignment)
        if (++ranks_on[{place.machine, place.processor}] > overcommit) return false;
    return std::ranges::equal(assignment, ranks, {}, &RankPlace::rank);
}

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

ProfileSummary summary_of(const Profile& profile) {
    return {profile.id,
            profile.application,
            profile.at,
            profile.model.program,
            profile.model.graph.task_count(),
            profile.model.complete,
            profile.digest,
            profile.arguments,
            profile.predicted,
            profile.measured,
            profile.model.unseen};
}

Result<void> check_history(const ApplicationStatus& status) {
    const std::vector<StateChange>& history = status.history;
    const auto wrong = [](const std::string& what) { return Error{ErrorCode::kConflict, what, {}}; };
    if (history.empty()) return wrong("its history is empty");
    if (history.front().state != ApplicationState::kAccepted)
        return wrong(std::string("its history begins with '") + to_string(history.front().state) +
                     "' instead of 'accepted'");
    if (history.back().state != status.state)
        return wrong(std::string("its state is '") + to_string(status.state) + "', but its history ends with '" +
                     to_string(history.back().state) + "'");
    for (std::size_t i = 1; i < history.size(); ++i) {
        if (i == 1 && history.size() >= kMaxHistory) continue;  // what was between has given way
        if (!allowed(history[i - 1].state, history[i].state))
            return wrong(std::string("its history goes from '") + to_string(history[i - 1].state) + "' to '" +
                         to_string(history[i].state) + "', which cannot happen");
    }
    return {};
}

}  // namespace zbs
