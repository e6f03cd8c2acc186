#pragma once
#include <array>

#include "algorithms/base/result.hpp"
#include "services/common/messages/application.hpp"
#include "services/common/messages/part.hpp"

/// The two state machines of co-allocation, as tables: what is not in them does not happen.
namespace zbs {

template <class State>
struct Transition {
    State from;
    State to;
    const char* why;  ///< what makes it happen, for people
};

/// Of an application, as its home keeps it. One row for each pair that is allowed.
inline constexpr std::array kApplicationTransitions = [] {
    using enum ApplicationState;
    using T = Transition<ApplicationState>;
    return std::array{
        T{kAccepted, kPlanned, "the zones offer enough: parts are chosen and get ids"},
        T{kAccepted, kCancelled, "its owner cancels"},
        T{kAccepted, kRejected, "no zone could ever give what it needs"},
        T{kPlanned, kHeld, "every zone holds its part"},
        T{kPlanned, kCommitted,
          "another zone refuses what one that waits in a queue would have had there: it waits on, at its place"},
        T{kPlanned, kAccepted, "a zone refuses or does not answer, or home restarts: all parts are given back"},
        T{kPlanned, kCancelled, "its owner cancels; outstanding answers are awaited first"},
        T{kPlanned, kRejected, "as to accepted, in the last round"},
        T{kHeld, kCommitted, "every zone commits its part"},
        T{kHeld, kAccepted, "a zone let its hold go or does not answer: all parts are given back"},
        T{kHeld, kCancelled, "its owner cancels; outstanding answers are awaited first"},
        T{kHeld, kRejected, "as to accepted, in the last round"},
        T{kCommitted, kLaunching, "the launcher's operation gets its id"},
        T{kCommitted, kPlanned, "it can start now in place of later: new parts take the place of those reserved"},
        T{kCommitted, kAccepted, "the reserved start slips, or a zone let its part go: all parts are given back"},
        T{kCommitted, kRejected, "as to accepted, in the last round"},
        T{kCommitted, kCancelled, "its owner cancels"},
        T{kLaunching, kRunning, "every zone has started its part, and its proxies have connected to the launcher"},
        T{kLaunching, kAccepted,
          "a zone does not start its part, and no rank has begun: the launcher is ended, all parts are given back"},
        T{kLaunching, kFailed,
          "the launcher does not start, ranks have begun before a zone failed, or it failed too often: all parts are "
          "stopped"},
        T{kLaunching, kCancelled, "its owner cancels: all parts are stopped"},
        T{kRunning, kCompleted, "the launcher ends with code 0"},
        T{kRunning, kFailed, "the launcher ends otherwise, a part is lost, or the walltime is over"},
        T{kRunning, kCancelled, "its owner cancels: all parts are stopped"},
    };
}();

/// Of a part, as the zone that holds it keeps it.
inline constexpr std::array kPartTransitions = [] {
    using enum PartState;
    using T = Transition<PartState>;
    return std::array{
        T{kHeld, kCommitted, "home commits, with the token of this hold"},
        T{kHeld, kReleased, "home gives it back, or replaces it"},
        T{kHeld, kExpired, "home did not commit within the time of the hold"},
        T{kCommitted, kRunning, "home launches, with the token of this hold"},
        T{kCommitted, kReleased, "home gives it back, replaces it, or did not launch within the launch window"},
        T{kRunning, kCompleted, "all its processes ended with code 0"},
        T{kRunning, kFailed, "a process ended otherwise or could not be started; all others are gone"},
        T{kRunning, kReleased, "home gives it back; all its processes are gone"},
    };
}();

/// Whether the table has this step. No state follows itself: writing other fields is no transition.
constexpr bool allowed(ApplicationState from, ApplicationState to) {
    for (const auto& t : kApplicationTransitions)
        if (t.from == from && t.to == to) return true;
    return false;
}
constexpr bool allowed(PartState from, PartState to) {
    for (const auto& t : kPartTransitions)
        if (t.from == from && t.to == to) return true;
    return false;
}

/// Changes of state kept of one application; the oldest but the first give way.
inline constexpr std::size_t kMaxHistory = 200;

/// Whether the history begins with `accepted`, goes by the table and ends with the state; of a full one the step after
/// the first entry is not looked at. Errors: kConflict with the step that is wrong.
Result<void> check_history(const ApplicationStatus& status);

}  // namespace zbs
