#pragma once
#include <string>
#include <variant>

#include "services/zone_scheduler/peer/part.hpp"
#include "services/zone_scheduler/program/commands/application_log_codec.hpp"

/// The log of the steps of a zone's parts and applications (`part_log`): enough to take each step again.
namespace zbs::codec {

struct LoggedStep {
    PartId part;
    part::Event event;
    part::Now now;
    StepOutcome outcome;
};
/// The settings that steps read, at the start of each life of the zone; a part or an application with its whole state;
/// a step.
using StepLogLine = std::variant<ZoneConfig, part::State, LoggedStep, ApplicationRun, LoggedApplicationStep>;

Json encode_step_settings(const ZoneConfig& config);
/// A launch is written with the members that `part::step` reads: without program, environment and launcher options.
Json encode(const part::Trace& trace);
Json encode(const StepLogLine& line);
Result<StepLogLine> decode_step_log_line(const Json& json);

/// The word of its event, e.g. "commit".
std::string word_of(const LoggedStep& step);
/// The step once more, by the code of this program.
Result<StepOutcome> take_again(part::State& state, const LoggedStep& logged, const ZoneConfig& config);

}  // namespace zbs::codec
