#include "services/common/codec/records/event_codec.hpp"

#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/message_codec.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kMaxStateBytes = 32;

// One field a line.
// clang-format off
constexpr auto kStateEvent = fields<StateEvent>(
    integer("id", &StateEvent::id, 1, INT64_MAX),
    time("at_us", &StateEvent::at),
    id("application", &StateEvent::application),
    text("state", &StateEvent::state, kMaxStateBytes),
    cut_text("reason", &StateEvent::reason),
    identity("owner", &StateEvent::owner),
    id("part", &StateEvent::part));
// clang-format on

}  // namespace

Json encode(const StateEvent& event) { return kStateEvent.encode(event); }
Result<StateEvent> decode_state_event(const Json& json) { return kStateEvent.decode(json); }

std::string event_text(const StateEvent& event) {
    return "id: " + std::to_string(event.id) + "\nevent: " + (event.part ? "part" : "application") +
           "\ndata: " + dump(encode(event)) + "\n\n";
}

}  // namespace zbs::codec
