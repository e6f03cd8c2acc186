#pragma once
#include <string>

#include "services/common/codec/json/json.hpp"
#include "services/common/messages/application.hpp"
#include "services/common/messages/event.hpp"
#include "services/common/ports/storage/part_store.hpp"

/// Values that are stored but never sent.
namespace zbs::codec {

Json encode(const PartRecord& record);
Result<PartRecord> decode_part_record(const Json& json);

/// The summary of an application as a database has it: `outline`, which changes with the status, and columns of the
/// request.
struct StoredSummary {
    std::string id, owner, program, name;
    std::int64_t ranks = 0, submitted_us = 0;
    Json outline;
};
Json encode_outline(const ApplicationStatus& status);
Result<ApplicationSummary> decode_stored_summary(StoredSummary stored);

Json encode(const StateEvent& event);
Result<StateEvent> decode_state_event(const Json& json);

/// As one server-sent event: `id`, `event` (application or part) and `data`, which is the JSON [HTML, section 9.2].
std::string event_text(const StateEvent& event);

}  // namespace zbs::codec
