#include "services/common/messages/node.hpp"

namespace zbs {

const char* to_string(StepActivity activity) {
    switch (activity) {
        case StepActivity::kRunning:
            return "running";
        case StepActivity::kBlocked:
            return "blocked";
        case StepActivity::kSuspended:
            return "suspended";
    }
    return "running";
}

const char* to_string(StepState state) {
    switch (state) {
        case StepState::kUnknown:
            return "unknown";
        case StepState::kRunning:
            return "running";
        case StepState::kExited:
            return "exited";
    }
    return "unknown";
}

const char* to_string(StepWork work) {
    switch (work) {
        case StepWork::kComputation:
            return "computation";
        case StepWork::kIo:
            return "io";
        case StepWork::kCommunication:
            return "communication";
        case StepWork::kMixed:
            return "mixed";
    }
    return "mixed";
}

const char* to_string(FillMode mode) { return mode == FillMode::kLts ? "lts" : "none"; }

}  // namespace zbs
