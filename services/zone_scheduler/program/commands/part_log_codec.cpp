#include "services/zone_scheduler/program/commands/part_log_codec.hpp"

#include <utility>

#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/records/record_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/text/checksum.hpp"
#include "services/zone_scheduler/program/commands/part_replay.hpp"

namespace zbs::codec {
namespace {

constexpr std::int64_t kFarUs = std::int64_t{1} << 50;  ///< 35 years; sums of a few such times do not overflow
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

constexpr auto steady(const char* key, auto member) { return microseconds(key, member, -kFarUs, kFarUs); }
constexpr auto length(const char* key, auto member) { return microseconds(key, member, 0, kFarUs); }

// One field a line.
// clang-format off
constexpr auto kSettings = fields<ZoneConfig>(
    Inlined{&ZoneConfig::zone, fields<Zone>(text("zone", &Zone::name, 64))},
    name("organisation", &ZoneConfig::organisation),
    length("hold_ttl_us", &ZoneConfig::hold_ttl),
    length("launch_window_us", &ZoneConfig::launch_window),
    length("max_grace_us", &ZoneConfig::max_grace),
    Inlined{&ZoneConfig::staging, fields<StagingConfig>(length("staging_window_us", &StagingConfig::window))},
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

constexpr auto kOutcome = fields<PartOutcome>(
    word("state", &PartOutcome::state),
    digest("sha256", &PartOutcome::sha256),
    optional(cut_text("error", &PartOutcome::error)));

constexpr auto kStep = fields<LoggedStep>(
    id("part", &LoggedStep::part),
    Inlined{&LoggedStep::event, kEvent},
    Inlined{&LoggedStep::now, fields<part::Now>(
        steady("steady_us", &part::Now::steady),
        time("wall_us", &part::Now::wall))},
    Inlined{&LoggedStep::outcome, kOutcome});
// clang-format on

constexpr const char* kKind = "event";  ///< sorts before all other keys of a first line: `line_log_file` relies on it
constexpr const char *kZone = "zone", *kPart = "part";

Json marked(const char* kind, Json json) {
    json[kKind] = kind;
    return json;
}

template <class Message, class... Rows>
Result<PartLogLine> read_line(JsonReader& in, const Table<Message, Rows...>& table) {
    Message message{};
    table.read(in, message);
    return in.finish(PartLogLine(std::move(message)));
}

}  // namespace

Json encode_part_settings(const ZoneConfig& config) { return marked(kZone, kSettings.encode(config)); }

Json encode(const part::Trace& trace) {
    if (trace.event == nullptr) return marked(kPart, kState.encode(trace.state));
    return kStep.encode({trace.state.record.request.id, *trace.event, trace.now, outcome_of(trace.state, trace.error)});
}

Json encode(const PartLogLine& line) {
    if (const auto* config = std::get_if<ZoneConfig>(&line)) return encode_part_settings(*config);
    if (const auto* state = std::get_if<part::State>(&line)) return encode(part::Trace{*state});
    return kStep.encode(std::get<LoggedStep>(line));
}

Result<PartLogLine> decode_part_log_line(const Json& json) {
    JsonReader in(json);
    const std::string kind = in.text(kKind, 32);
    if (!in.ok()) return in.error();
    if (kind == kZone) return read_line(in, kSettings);
    if (kind == kPart) return read_line(in, kState);
    return read_line(in, kStep);
}

PartOutcome outcome_of(const part::State& state, const Error* error) {
    return {state.record.status.state, zbs::sha256(dump(kState.encode(state))), error == nullptr ? "" : error->message};
}

std::string word_of(const part::Event& event) {
    Json json;
    kEvent.write(json, event);
    return json[kKind].get<std::string>();
}

Json encode(const PartReplay& replay) {
    const auto& difference = replay.first_difference;
    Json json = {{"events", replay.events}, {"parts", replay.parts}, {"same", !difference}, {"is_cut", replay.is_cut}};
    if (difference)
        json["first_difference"] = {{"line", difference->line},
                                    {"part", to_string(difference->logged.part)},
                                    {"event", word_of(difference->logged.event)},
                                    {"logged", kOutcome.encode(difference->logged.outcome)},
                                    {"replayed", kOutcome.encode(difference->replayed)}};
    return json;
}

}  // namespace zbs::codec
