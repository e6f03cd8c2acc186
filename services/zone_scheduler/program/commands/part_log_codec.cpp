#include "services/zone_scheduler/program/commands/part_log_codec.hpp"

#include <utility>

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/records/record_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/checksum.hpp"
#include "services/zone_scheduler/program/commands/step_replay.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kMaxMachineBytes = 64 * limits::kMaxRanks;

std::vector<std::int32_t> read_processors(JsonReader& in, const char* key) {
    const Json& items = in.array(key, limits::kMaxRanks);
    std::vector<std::int32_t> processors;
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        if (items[i].is_number_unsigned() && items[i].get<std::uint64_t>() <= INT32_MAX)
            processors.push_back(items[i].get<std::int32_t>());
        else
            in.fail(std::string(key) + "/" + std::to_string(i), "must be a processor's number");
    }
    return processors;
}

Result<PartRecord> decode_record(const Json& json, const std::string& pointer) {
    Result<PartRecord> record = decode_part_record(json);
    if (!record) return invalid(record.error().message, pointer + record.error().pointer);
    return record;
}

// `part::step` needs only whether there is one.
Json write_profiler(const std::string& path) { return !path.empty(); }
std::string read_profiler(JsonReader& in, const char* key) { return in.boolean(key) ? "there is one" : ""; }

void check_launch(JsonReader& in, const part::Launch& launch) {
    if (launch.machines.size() != launch.request.proxies.size()) in.fail("machines", "must be one for each proxy");
}
/// `part::step` relies on it.
void check_state(JsonReader& in, const part::State& part) {
    const PartState state = part.record.status.state;
    const bool fits = std::holds_alternative<part::Held>(part.phase)        ? state == PartState::kHeld
                      : std::holds_alternative<part::Committed>(part.phase) ? state == PartState::kCommitted
                      : std::holds_alternative<part::Ended>(part.phase)     ? is_final(state)
                                                                            : state == PartState::kRunning;
    if (!fits) in.fail("phase", "is none of a part that is " + std::string(to_string(state)));
}

// One field a line.
// clang-format off
// Of `part::step` and of the `step` of applications.
constexpr auto kSettings = fields<ZoneConfig>(
    Inlined{&ZoneConfig::zone, fields<Zone>(text("zone", &Zone::name, 64))},
    name("organisation", &ZoneConfig::organisation),
    length("hold_ttl_us", &ZoneConfig::hold_ttl),
    length("launch_window_us", &ZoneConfig::launch_window),
    length("max_grace_us", &ZoneConfig::max_grace),
    length("poll_every_us", &ZoneConfig::poll_every),
    count("max_output_bytes", &ZoneConfig::max_output_bytes),
    Inlined{&ZoneConfig::staging, fields<StagingConfig>(
        length("staging_window_us", &StagingConfig::window),
        optional(text("shared_file_system", &StagingConfig::shared_file_system, 64)))},
    Field{"profiler", &ZoneConfig::profiler, write_profiler, read_profiler});

constexpr auto kStop = fields<part::Stop>(
    cut_text("reason", &part::Stop::reason),
    length("grace_us", &part::Stop::grace),
    boolean("is_asked", &part::Stop::is_asked),
    boolean("not_started", &part::Stop::not_started));

constexpr auto kPhase = one_of_these<part::Phase>("phase",
    alternative<part::Held>("held",
        steady("until_us", &part::Held::until)),
    alternative<part::Committed>("committed",
        steady("until_us", &part::Committed::until),
        steady("staging_since_us", &part::Committed::staging_since),
        boolean("has_inputs", &part::Committed::has_inputs)),
    alternative<part::Running>("running"),
    alternative<part::Stopping>("stopping",
        nested("stop", &part::Stopping::stop, kStop)),
    alternative<part::Returning>("returning",
        word("stage", &part::Returning::stage),
        nested("stop", &part::Returning::stop, kStop)),
    alternative<part::Ended>("ended"));

constexpr auto kState = fields<part::State>(
    nested("record", &part::State::record, Functions{encode, decode_record}),
    Inlined{&part::State::phase, kPhase},
    steady("start_us", &part::State::start)).checked(check_state);

constexpr auto kStepStatus = fields<StepStatus>(
    word("state", &StepStatus::state),
    integer("exit_code", &StepStatus::exit_code, INT32_MIN, INT32_MAX),
    cut_text("reason", &StepStatus::reason),
    boolean("is_site_fault", &StepStatus::is_site_fault));

constexpr auto kRankEnd = fields<RankEnd>(
    count("rank", &RankEnd::rank, limits::kMaxRanks),
    word("how", &RankEnd::how),
    integer("code", &RankEnd::code, INT32_MIN, INT32_MAX),
    boolean("before_finalize", &RankEnd::before_finalize),
    boolean("before_init", &RankEnd::before_init),
    boolean("in_stop", &RankEnd::in_stop),
    time("at_us", &RankEnd::at));

constexpr auto kObservation = fields<part::Observation>(
    list("steps", &part::Observation::steps, limits::kMaxRanks, kStepStatus),
    cut_text("not_begun", &part::Observation::not_begun),
    nested("first_end", &part::Observation::first_end, kRankEnd),
    cut_text("ranks_at_walltime", &part::Observation::ranks_at_walltime),
    boolean("has_profile", &part::Observation::has_profile),
    boolean("is_allocated", &part::Observation::is_allocated));

constexpr auto kLaunchRequest = fields<LaunchRequest>(
    operation("operation", &LaunchRequest::operation),
    boolean("profile", &LaunchRequest::profile),
    list("proxies", &LaunchRequest::proxies, limits::kMaxRanks, fields<LaunchRequest::Proxy>(
        count("id", &LaunchRequest::Proxy::id, limits::kMaxRanks))));

using Placement = ProcessorLedger::Placement;
constexpr auto kPlacement = fields<Placement>(
    Field{"processors", &Placement::processors, kAsIs, read_processors},
    list("assignment", &Placement::assignment, limits::kMaxRanks, Functions{encode, decode_rank_place}));

constexpr auto kEvent = one_of_these<part::Event>("event",
    alternative<part::Commit>("commit"),
    Alternative{"launch", fields<part::Launch>(
        Inlined{&part::Launch::request, kLaunchRequest},
        texts("machines", &part::Launch::machines, limits::kMaxRanks, kMaxMachineBytes)).checked(check_launch)},
    alternative<part::StartFailed>("start_failed",
        cut_text("reason", &part::StartFailed::reason)),
    alternative<part::Release>("release",
        cut_text("reason", &part::Release::reason)),
    alternative<part::Block>("block"),
    alternative<part::Withdraw>("withdraw",
        cut_text("reason", &part::Withdraw::reason)),
    alternative<part::Granted>("granted"),
    alternative<part::Placed>("placed",
        Inlined{&part::Placed::placement, kPlacement}),
    alternative<part::FilesAnnounced>("files_announced",
        nested("staging", &part::FilesAnnounced::staging, Functions{encode, decode_staging})),
    alternative<part::FilesMoved>("files_moved",
        microseconds("latest_launch_us", &part::FilesMoved::latest_launch, INT64_MIN)),
    alternative<part::InputsBrought>("inputs_brought"),
    alternative<part::TimePassed>("time_passed"),
    alternative<part::ProcessesSeen>("processes_seen",
        Inlined{&part::ProcessesSeen::seen, kObservation}),
    alternative<part::Judged>("judged",
        cut_text("verdict", &part::Judged::verdict)),
    alternative<part::GivenBack>("given_back"));

constexpr auto kStep = fields<LoggedStep>(
    id("part", &LoggedStep::part),
    Inlined{&LoggedStep::event, kEvent},
    Inlined{&LoggedStep::now, fields<part::Now>(
        steady("steady_us", &part::Now::steady),
        time("wall_us", &part::Now::wall))},
    Inlined{&LoggedStep::outcome, kOutcome});
// clang-format on

constexpr const char *kZone = "zone", *kPart = "part";

template <class Message>
Result<StepLogLine> read_line(JsonReader& in, const auto& table) {
    Message message{};
    table.read(in, message);
    return in.finish(StepLogLine(std::move(message)));
}

StepOutcome outcome_of(const part::State& state, const Error* error) {
    return {to_string(state.record.status.state), zbs::sha256(dump(kState.encode(state))),
            error == nullptr ? "" : error->message};
}

}  // namespace

Json encode_step_settings(const ZoneConfig& config) {
    Json json = kSettings.encode(config);
    json[kStepKind] = kZone;
    return json;
}

Json encode(const part::Trace& trace) {
    if (trace.event != nullptr)
        return kStep.encode(
            {trace.state.record.request.id, *trace.event, trace.now, outcome_of(trace.state, trace.error)});
    Json json = kState.encode(trace.state);
    json[kStepKind] = kPart;
    return json;
}

Json encode(const StepLogLine& line) {
    if (const auto* config = std::get_if<ZoneConfig>(&line)) return encode_step_settings(*config);
    if (const auto* state = std::get_if<part::State>(&line)) return encode(part::Trace{*state});
    if (const auto* step = std::get_if<LoggedStep>(&line)) return kStep.encode(*step);
    if (const auto* run = std::get_if<ApplicationRun>(&line)) return encode_application(*run);
    return encode(std::get<LoggedApplicationStep>(line));
}

Result<StepLogLine> decode_step_log_line(const Json& json) {
    JsonReader in(json);
    const std::string kind = in.text(kStepKind, 32);
    if (!in.ok()) return in.error();
    if (kind == kZone) return read_line<ZoneConfig>(in, kSettings);
    if (kind == kPart) return read_line<part::State>(in, kState);
    if (kind == kApplication) {
        Result<ApplicationRun> run = decode_application_run(in);
        if (!run) return run.error();
        return StepLogLine(*std::move(run));
    }
    if (!in.has(kApplication)) return read_line<LoggedStep>(in, kStep);
    Result<LoggedApplicationStep> step = decode_application_step(in);
    if (!step) return step.error();
    return StepLogLine(*std::move(step));
}

std::string word_of(const LoggedStep& step) { return kStep.encode(step).at(kStepKind).get<std::string>(); }

Json encode(const StepReplay& replay) {
    const auto& difference = replay.first_difference;
    Json json = {{"events", replay.events},
                 {"parts", replay.parts},
                 {"applications", replay.applications},
                 {"same", !difference && replay.events > 0},
                 {"is_cut", replay.is_cut}};
    if (difference)
        json["first_difference"] = {{"line", difference->line},
                                    {difference->kind, difference->id},
                                    {"event", difference->event},
                                    {"logged", kOutcome.encode(difference->logged)},
                                    {"replayed", kOutcome.encode(difference->replayed)}};
    return json;
}

Result<StepOutcome> take_again(part::State& state, const LoggedStep& logged, const ZoneConfig& config) {
    if (std::holds_alternative<part::Launch>(logged.event)) {
        if (const auto may = part::check_launch(state, logged.now); !may) return outcome_of(state, &may.error());
    }
    Result<part::Step> step = part::step(config, state, logged.event, logged.now);
    if (!step) return outcome_of(state, &step.error());
    if (step->next) state = *std::move(step->next);
    return outcome_of(state, nullptr);
}

}  // namespace zbs::codec
