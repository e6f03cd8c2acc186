#include "services/zone_scheduler/program/commands/step_replay.hpp"

#include <istream>
#include <map>
#include <string>
#include <utility>

#include "services/common/messages/application.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxLine = std::size_t{64} << 20;  ///< bytes; a step of the largest application has fewer

/// What its log has of a zone so far.
class StepReplayer {
  public:
    /// Counts, and sets the first difference but for its line. Errors: the line does not follow.
    Result<void> take(const codec::StepLogLine& line, StepReplay& replay) {
        if (const auto* config = std::get_if<ZoneConfig>(&line)) {
            config_ = *config;
            for (auto& [id, state] : parts_) state.reset();
            for (auto& [id, run] : applications_) run.reset();
            return {};
        }
        if (!config_) return invalid("a log of steps has the settings of its zone before all else");
        if (const auto* state = std::get_if<part::State>(&line)) parts_[state->record.request.id] = *state;
        if (const auto* run = std::get_if<ApplicationRun>(&line)) applications_[run->app.request.id] = *run;
        Result<void> done;
        if (const auto* step = std::get_if<codec::LoggedStep>(&line))
            done = take(parts_, step->part, "part", *step, replay,
                        [](const part::State& state) { return std::holds_alternative<part::Ended>(state.phase); });
        if (const auto* step = std::get_if<codec::LoggedApplicationStep>(&line))
            done = take(applications_, step->application, "application", *step, replay,
                        [](const ApplicationRun& run) { return !is_open(run.app.status); });
        replay.parts = parts_.size();
        replay.applications = applications_.size();
        return done;
    }

  private:
    template <class States, class Step>
    Result<void> take(States& states, const typename States::key_type& id, const char* kind, const Step& logged,
                      StepReplay& replay, const auto& has_ended) const {
        const auto found = states.find(id);
        if (found == states.end() || !found->second)
            return invalid(std::string(kind) + " " + to_string(id) + " has ended, or no line before has its state");
        const Result<codec::StepOutcome> outcome = codec::take_again(*found->second, logged, *config_);
        if (!outcome) return outcome.error();
        if (has_ended(*found->second)) found->second.reset();
        ++replay.events;
        if (!(*outcome == logged.outcome))
            replay.first_difference = {0, kind, to_string(id), codec::word_of(logged), logged.outcome, *outcome};
        return {};
    }

    std::optional<ZoneConfig> config_;
    std::map<PartId, std::optional<part::State>> parts_;  ///< none: it has ended
    std::map<ApplicationId, std::optional<ApplicationRun>> applications_;
};

/// Reads on to the next end of a line, or until `line` is longer than `kMaxLine`. False where nothing is left; a line
/// without an end leaves `in` at its end.
bool next_line(std::istream& in, std::string& line) {
    line.clear();
    for (char c = 0; line.size() <= kMaxLine && in.get(c);) {
        if (c == '\n') return true;
        line += c;
    }
    return !line.empty();
}

}  // namespace

Result<StepReplay> replay_steps(std::istream& log, const std::string& name) {
    StepReplay replay;
    StepReplayer zone;
    std::size_t number = 0;
    for (std::string text; next_line(log, text);) {
        ++number;
        replay.is_cut = log.eof();
        if (replay.is_cut) break;
        if (text.size() > kMaxLine)
            return Error{ErrorCode::kTooLarge,
                         "a line is longer than " + std::to_string(kMaxLine >> 20) + " MiB: this is no log of steps",
                         name + ":" + std::to_string(number)};
        const auto wrong = [&](const Error& error) {
            return Error{error.code, error.pointer.empty() ? error.message : error.pointer + " " + error.message,
                         name + ":" + std::to_string(number)};
        };
        const Result<codec::Json> json = codec::parse(text);
        if (!json) return wrong(json.error());
        const Result<codec::StepLogLine> line = codec::decode_step_log_line(*json);
        if (!line) return wrong(line.error());
        if (auto done = zone.take(*line, replay); !done) return wrong(done.error());
        if (!replay.first_difference) continue;
        replay.first_difference->line = number;
        return replay;
    }
    if (log.bad() || (number == 0 && !log.eof()))
        return Error{ErrorCode::kNotFound, "cannot be read; name the file of 'part_log'", name};
    return replay;
}

}  // namespace zbs
