#include <algorithm>

#include "services/common/messages/application.hpp"
#include "services/common/messages/capacity.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/peering.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {

const char* to_string(PartState state) {
    switch (state) {
        case PartState::kHeld:
            return "held";
        case PartState::kCommitted:
            return "committed";
        case PartState::kRunning:
            return "running";
        case PartState::kCompleted:
            return "completed";
        case PartState::kFailed:
            return "failed";
        case PartState::kReleased:
            return "released";
        case PartState::kExpired:
            return "expired";
    }
    return "failed";
}

std::string launch_operation(const PartId& part) { return "run-" + to_string(part); }

const char* to_string(Launcher launcher) {
    switch (launcher) {
        case Launcher::kMpich:
            return "mpich";
        case Launcher::kOpenMpi:
            return "openmpi";
        case Launcher::kSrunPmi2:
            return "srun-pmi2";
        case Launcher::kSrunPmix:
            return "srun-pmix";
    }
    return "mpich";
}

const char* to_string(ApplicationState state) {
    switch (state) {
        case ApplicationState::kAccepted:
            return "accepted";
        case ApplicationState::kPlanned:
            return "planned";
        case ApplicationState::kHeld:
            return "held";
        case ApplicationState::kCommitted:
            return "committed";
        case ApplicationState::kLaunching:
            return "launching";
        case ApplicationState::kRunning:
            return "running";
        case ApplicationState::kCompleted:
            return "completed";
        case ApplicationState::kFailed:
            return "failed";
        case ApplicationState::kCancelled:
            return "cancelled";
        case ApplicationState::kRejected:
            return "rejected";
    }
    return "failed";
}

const char* to_string(ZoneStanding standing) {
    switch (standing) {
        case ZoneStanding::kActive:
            return "active";
        case ZoneStanding::kDrain:
            return "drain";
        case ZoneStanding::kLeft:
            return "left";
    }
    return "left";
}

const char* direction_word(const std::optional<PeeringState>& state) { return state ? to_string(*state) : "none"; }

const char* to_string(PeerState state) {
    switch (state) {
        case PeerState::kUp:
            return "up";
        case PeerState::kDraining:
            return "draining";
        case PeerState::kLeft:
            return "left";
        case PeerState::kDown:
            return "down";
        case PeerState::kUnlisted:
            return "unlisted";
        case PeerState::kWaits:
            return "waits";
        case PeerState::kRefusesUs:
            return "refuses us";
        case PeerState::kCertificate:
            return "certificate";
        case PeerState::kClock:
            return "clock";
        case PeerState::kUnknown:
            return "unknown";
    }
    return "unknown";
}

const char* to_string(PeeringState state) {
    switch (state) {
        case PeeringState::kRequested:
            return "requested";
        case PeeringState::kAccepted:
            return "accepted";
        case PeeringState::kRejected:
            return "rejected";
        case PeeringState::kSuspended:
            return "suspended";
    }
    return "rejected";
}

const char* to_string(PeeringVerb verb) {
    switch (verb) {
        case PeeringVerb::kAccept:
            return "accept";
        case PeeringVerb::kReject:
            return "reject";
        case PeeringVerb::kSuspend:
            return "suspend";
        case PeeringVerb::kResume:
            return "resume";
        case PeeringVerb::kSet:
            return "set";
        case PeeringVerb::kAsk:
            return "ask";
    }
    return "set";
}

const char* to_string(TrustEvent event) {
    switch (event) {
        case TrustEvent::kHoldKept:
            return "hold_kept";
        case TrustEvent::kHoldDropped:
            return "hold_dropped";
        case TrustEvent::kCleanEnd:
            return "clean_end";
        case TrustEvent::kDirtyEnd:
            return "dirty_end";
        case TrustEvent::kFailedCheck:
            return "failed_check";
        case TrustEvent::kInvalidRequest:
            return "invalid_request";
        case TrustEvent::kBrokenWord:
            return "broken_word";
        case TrustEvent::kCutAnswer:
            return "cut_answer";
    }
    return "invalid_request";
}

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
