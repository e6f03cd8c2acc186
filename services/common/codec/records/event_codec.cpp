#include "services/common/codec/records/event_codec.hpp"

#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kMaxStateBytes = 32;

}  // namespace

Json encode(const StateEvent& event) {
    Json json = {{"id", event.id},
                 {"at_us", to_microseconds(event.at)},
                 {"application", to_string(event.application)},
                 {"state", event.state},
                 {"reason", bounded(event.reason, JsonReader::kMaxText)}};
    if (event.owner) json["owner"] = to_uri(*event.owner);
    if (event.part) json["part"] = to_string(*event.part);
    return json;
}

Result<StateEvent> decode_state_event(const Json& json) {
    JsonReader in(json);
    StateEvent event;
    event.id = static_cast<std::uint64_t>(in.integer("id", 1, INT64_MAX));
    event.at = time_from_microseconds(in.integer("at_us", 0, INT64_MAX));
    event.application = read_id<ApplicationId>(in, "application");
    event.state = in.text("state", kMaxStateBytes);
    event.reason = in.text("reason");
    if (in.has("owner")) event.owner = read_identity(in, "owner");
    if (in.has("part")) event.part = read_id<PartId>(in, "part");
    return in.finish(std::move(event));
}

std::string event_text(const StateEvent& event) {
    return "id: " + std::to_string(event.id) + "\nevent: " + (event.part ? "part" : "application") +
           "\ndata: " + dump(encode(event)) + "\n\n";
}

}  // namespace zbs::codec
