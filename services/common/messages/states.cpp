#include "services/common/messages/states.hpp"

#include <cstddef>
#include <vector>

namespace zbs {

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
