#pragma once
#include <string>
#include <variant>

#include "services/common/codec/json/json.hpp"
#include "services/zone_scheduler/peer/part.hpp"

namespace zbs {
struct PartReplay;
}

/// The log of the parts of a zone (`part_log`), one JSON object a line: enough to take each step again.
namespace zbs::codec {

/// How a step ended.
struct PartOutcome {
    PartState state = PartState::kHeld;
    std::string sha256;  ///< of the whole state as JSON
    std::string error;   ///< of a step that failed; else empty
    bool operator==(const PartOutcome&) const = default;
};
struct LoggedStep {
    PartId part;
    part::Event event;
    part::Now now;
    PartOutcome outcome;
};
/// The settings that `part::step` reads, at the start of each life of the zone; a part with its whole state; a step.
using PartLogLine = std::variant<ZoneConfig, part::State, LoggedStep>;

Json encode_part_settings(const ZoneConfig& config);
/// A launch is written with the members that `part::step` reads: without program, environment and launcher options.
Json encode(const part::Trace& trace);
Json encode(const PartLogLine& line);
Result<PartLogLine> decode_part_log_line(const Json& json);

PartOutcome outcome_of(const part::State& state, const Error* error);
/// The word of the event in a log, e.g. "commit".
std::string word_of(const part::Event& event);

Json encode(const PartReplay& replay);

}  // namespace zbs::codec
