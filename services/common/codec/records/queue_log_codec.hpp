#pragma once
#include <string_view>
#include <vector>

#include "algorithms/queue/queue_event.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/common/ports/storage/part_store.hpp"

namespace zbs::codec {

Json encode(const QueueEvent& event);
Result<QueueEvent> decode_queue_event(const Json& json);
Json encode(const QueueRecord& queue);
Result<QueueRecord> decode_queue_record(const Json& json);

/// A queue's log: one event a line. Errors: the line, and what is wrong with it; over `limits::kMaxQueueLogBytes`.
/// An unfinished last line, as a zone leaves it that is killed, is left out.
Result<std::vector<QueueEvent>> read_queue_log(std::string_view text);

}  // namespace zbs::codec
