#pragma once
#include <string>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/event.hpp"

namespace zbs::codec {

Json encode(const StateEvent& event);
Result<StateEvent> decode_state_event(const Json& json);

/// As one server-sent event: `id`, `event` (application or part) and `data`, which is the JSON [HTML, section 9.2].
std::string event_text(const StateEvent& event);

}  // namespace zbs::codec
