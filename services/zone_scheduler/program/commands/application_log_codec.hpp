#pragma once
#include <string>

#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/program/commands/step_log.hpp"

/// Applications in the log of steps. Of a request only what `step` reads is written; of models only those of a run.
namespace zbs::codec {

struct LoggedApplicationStep {
    ApplicationId application;
    ApplicationInput event;
    Moment now;
    bool is_stored = true;  ///< what the step had to save
    StepOutcome outcome;
};

inline constexpr const char* kApplication = "application";

Json encode_application(const ApplicationRun& run);
Json encode(const LoggedApplicationStep& step);
/// Errors also for a state that no `step` leaves.
Result<ApplicationRun> decode_application_run(JsonReader& in);
Result<LoggedApplicationStep> decode_application_step(JsonReader& in);

StepOutcome outcome_of(const ApplicationRun& run);
std::string word_of(const LoggedApplicationStep& step);
/// The step once more, by the code of this program. Errors: a step that cannot be taken in this state.
Result<StepOutcome> take_again(ApplicationRun& run, const LoggedApplicationStep& logged, const ZoneConfig& config);

}  // namespace zbs::codec
