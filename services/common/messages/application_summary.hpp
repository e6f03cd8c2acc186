#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/common/messages/application.hpp"

namespace zbs {

/// A place in the order of a list of applications: the zone's clock when it took one, then the id.
struct ApplicationPlace {
    Time submitted{};
    ApplicationId id;
    auto operator<=>(const ApplicationPlace&) const = default;
};

/// One row of a list of applications.
struct ApplicationSummary {
    ApplicationId id;
    Caller owner;
    std::string name;  ///< what its owner calls it; empty: nothing
    ApplicationState state = ApplicationState::kAccepted;
    int ranks = 1;
    std::string program;          ///< argv[0]
    std::vector<ZoneName> zones;  ///< of its parts, sorted, each once
    std::string reason;
    Time submitted{};  ///< on the zone's clock; never changes
    std::optional<int> exit_code;
    std::optional<Time> started{};         ///< when its ranks ran in every zone
    std::optional<Time> ended{};           ///< when it came to its last state
    std::optional<Time> expected_start{};  ///< while it waits, as far as it is known
    std::string waits_for{};               ///< in a queue: `QueueOutlook::waits_for`
    std::uint64_t results_left_out = 0;    ///< that were asked for and did not come home
    bool operator==(const ApplicationSummary&) const = default;
};

inline ApplicationSummary summary_of(const Application& application) {
    const ApplicationStatus& status = application.status;
    ApplicationSummary row{.id = application.request.id,
                           .owner = application.owner,
                           .name = application.request.name,
                           .state = status.state,
                           .ranks = application.request.ranks,
                           .program = application.request.argv.empty() ? std::string{} : application.request.argv[0],
                           .reason = status.reason,
                           .submitted = status.history.empty() ? Time{} : status.history.front().at,
                           .exit_code = status.exit_code};
    if (status.results) row.results_left_out = status.results->left_out;
    for (const ApplicationPart& part : status.parts) row.zones.push_back(part.zone);
    for (const StateChange& change : status.history) {
        if (change.state == ApplicationState::kRunning) row.started = change.at;
        if (is_final(change.state)) row.ended = change.at;
    }
    if (status.state < ApplicationState::kLaunching) {
        row.expected_start = status.start;
        for (const ApplicationPart& part : status.parts) {
            if (!part.status.queue) continue;
            row.expected_start = status.queue_start;
            row.waits_for = part.status.queue->waits_for;
        }
    }
    std::sort(row.zones.begin(), row.zones.end());
    row.zones.erase(std::unique(row.zones.begin(), row.zones.end()), row.zones.end());
    return row;
}

inline ApplicationPlace place_of(const ApplicationSummary& row) { return {row.submitted, row.id}; }

/// Whether there is still something to do for it: it has not ended, or a zone may still hold a part of it.
inline bool is_open(const ApplicationStatus& status) { return !is_final(status.state) || !status.releasing.empty(); }

/// When it came to its state; the epoch where it has no history.
inline Time changed_at(const ApplicationStatus& status) {
    return status.history.empty() ? Time{} : status.history.back().at;
}

}  // namespace zbs
