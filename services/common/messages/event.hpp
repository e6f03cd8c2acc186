#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/names/identity.hpp"

namespace zbs {

/// An application or a part has entered a state.
struct StateEvent {
    std::uint64_t id = 0;  ///< grows with every event of the zone, also over restarts; never used twice
    Time at{};
    ApplicationId application;
    std::optional<Caller> owner{};  ///< of an application; none for a part, whose events only operators receive
    std::optional<PartId> part{};   ///< none: the application itself, at home
    std::string state;              ///< word of `ApplicationState` or `PartState`
    std::string reason{};           ///< for people
    bool operator==(const StateEvent&) const = default;
};

/// Events kept of one application or part.
inline constexpr std::size_t kMaxEventsOfOne = 400;

/// Which events somebody wants to see: those after `after` that fit all that is given, oldest first.
struct EventQuery {
    std::uint64_t after = 0;
    std::optional<Caller> owner{};               ///< only of this user's applications
    std::optional<ApplicationId> application{};  ///< only of this application at home
    std::size_t limit = 256;
};

/// Whether an event is one of those that a query is for.
inline bool fits(const StateEvent& event, const EventQuery& query) {
    if (event.id <= query.after) return false;
    if (query.owner && event.owner != query.owner) return false;
    return !query.application || (!event.part && event.application == *query.application);
}

}  // namespace zbs
