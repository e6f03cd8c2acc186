#include "services/zone_scheduler/program/commands/part_replay.hpp"

#include <istream>
#include <map>
#include <utility>

namespace zbs {
namespace {

/// The parts of a zone as its log has them so far.
class PartReplayer {
  public:
    std::size_t parts() const { return parts_.size(); }

    /// The outcome of a step, if it is another than the zone had. Errors: the line does not follow.
    Result<std::optional<codec::PartOutcome>> take(const codec::PartLogLine& line) {
        if (const auto* config = std::get_if<ZoneConfig>(&line)) {
            config_ = *config;
            for (auto& [id, state] : parts_) state.reset();
            return std::optional<codec::PartOutcome>{};
        }
        if (!config_) return invalid("a log of parts has the settings of its zone before all else");
        if (const auto* state = std::get_if<part::State>(&line)) {
            parts_[state->record.request.id] = *state;
            return std::optional<codec::PartOutcome>{};
        }
        const codec::LoggedStep& logged = std::get<codec::LoggedStep>(line);
        const auto found = parts_.find(logged.part);
        if (found == parts_.end() || !found->second)
            return invalid("part " + to_string(logged.part) + " has ended, or no line before has its state");
        codec::PartOutcome outcome = take(*found->second, logged);
        if (std::holds_alternative<part::Ended>(found->second->phase)) found->second.reset();
        return outcome == logged.outcome ? std::nullopt : std::optional(std::move(outcome));
    }

  private:
    codec::PartOutcome take(part::State& state, const codec::LoggedStep& logged) const {
        if (std::holds_alternative<part::Launch>(logged.event)) {
            if (const auto may = part::check_launch(state, logged.now); !may)
                return codec::outcome_of(state, &may.error());
        }
        Result<part::Step> step = part::step(*config_, state, logged.event, logged.now);
        if (!step) return codec::outcome_of(state, &step.error());
        if (step->next) state = *std::move(step->next);
        return codec::outcome_of(state, nullptr);
    }

    std::optional<ZoneConfig> config_;
    std::map<PartId, std::optional<part::State>> parts_;  ///< none: it has ended
};

}  // namespace

Result<PartReplay> replay_parts(std::istream& log, const std::string& name) {
    PartReplay replay;
    PartReplayer parts;
    std::size_t number = 0;
    for (std::string text; std::getline(log, text);) {
        ++number;
        replay.is_cut = log.eof();
        if (replay.is_cut) break;
        const auto wrong = [&](const Error& error) {
            return Error{error.code, error.pointer.empty() ? error.message : error.pointer + " " + error.message,
                         name + ":" + std::to_string(number)};
        };
        const Result<codec::Json> json = codec::parse(text);
        if (!json) return wrong(json.error());
        const Result<codec::PartLogLine> line = codec::decode_part_log_line(*json);
        if (!line) return wrong(line.error());
        const Result<std::optional<codec::PartOutcome>> other = parts.take(*line);
        if (!other) return wrong(other.error());
        const auto* step = std::get_if<codec::LoggedStep>(&*line);
        if (step != nullptr) ++replay.events;
        replay.parts = parts.parts();
        if (!*other) continue;
        replay.first_difference = {number, *step, **other};
        return replay;
    }
    if (log.bad() || (number == 0 && !log.eof()))
        return Error{ErrorCode::kNotFound, "cannot be read; name the file of 'part_log'", name};
    return replay;
}

}  // namespace zbs
