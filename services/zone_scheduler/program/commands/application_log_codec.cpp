#include "services/zone_scheduler/program/commands/application_log_codec.hpp"

#include <set>
#include <utility>

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/states.hpp"
#include "services/common/messages/text/checksum.hpp"
#include "services/zone_scheduler/home/application_steps.hpp"

namespace zbs::codec {
namespace {

constexpr auto kMaxZones = limits::kMaxZonesInRegistry;
constexpr std::int64_t kMaxCount = 1'000'000;

struct PartIds {
    Json encode(const PartId& id) const { return to_string(id); }
    Result<PartId> decode(const Json& json, const std::string& pointer) const {
        if (!json.is_string()) return invalid("must be the id of a part", pointer);
        return decode_id<PartId>(json.get_ref<const std::string&>(), pointer);
    }
};
constexpr auto parts(const char* key, auto member) { return list(key, member, kMaxZones, PartIds{}); }

/// An answer or the error in its place.
template <class Event, class Answer>
struct AnswerRow {
    Functions<Answer> codec;
    void write(Json& json, const Event& event) const {
        if (event.answer)
            json["answer"] = codec.encode(*event.answer);
        else
            json["refusal"] = {{"code", to_string(event.answer.error().code)},
                               {"message", bounded(event.answer.error().message, JsonReader::kMaxText)}};
    }
    void read(JsonReader& in, Event& event) const {
        if (in.has("answer")) {
            event.answer = codec.decode(in.object("answer"), in.pointer_of("answer"));
            if (!event.answer) in.fail(event.answer.error());
        } else {
            JsonReader error(in.object("refusal"), in.pointer_of("refusal"));
            event.answer = Error{read_word<ErrorCode>(error, "code"), error.text("message"), {}};
            if (Result<bool> good = error.finish(true); !good) in.fail(good.error());
        }
    }
};

/// An entry of a map: its key among the fields of what it maps to.
template <class Mapped>
constexpr auto by_part(const auto& table) {
    using Entry = std::pair<PartId, Mapped>;
    return fields<Entry>(id("part", &Entry::first), Inlined{&Entry::second, table});
}
template <class Mapped>
constexpr auto by_zone(const auto& table) {
    using Entry = std::pair<ZoneName, Mapped>;
    return fields<Entry>(name("zone", &Entry::first), Inlined{&Entry::second, table});
}

/// Computed: it may lie before 1970.
Time read_asked(JsonReader& in, const char* key) {
    return time_from_microseconds(in.integer(key, -2 * kFarUs, 2 * kFarUs));
}
Json write_backoff(const ZoneBackoff& backoff);
ZoneBackoff read_backoff(JsonReader& in, const char* key);

// One field a line.
// clang-format off
constexpr auto kModel = Functions{encode, decode_model};
constexpr auto kApplicationStatus = Functions{encode, decode_application_status};
constexpr auto kApplicationPart = Functions{encode, decode_application_part};
constexpr auto kResults = Functions{encode, decode_staged_results};

constexpr auto kFailure = fields<ZoneFailure>(
    text("zone", &ZoneFailure::zone, 64),
    cut_text("reason", &ZoneFailure::reason));

constexpr auto kAnswers = fields<Answers>(
    parts("missing", &Answers::missing),
    nested("failure", &Answers::failure, kFailure));

constexpr auto kTurn = fields<QueueTurn>(
    boolean("was_asked", &QueueTurn::was_asked),
    steady("elsewhere_at_us", &QueueTurn::elsewhere_at));

constexpr auto kEnd = fields<ApplicationEnd>(
    word("end_state", &ApplicationEnd::state),
    cut_text("end_reason", &ApplicationEnd::reason),
    count("exit_code", &ApplicationEnd::exit_code, 255),
    list("parts", &ApplicationEnd::parts, kMaxZones, kApplicationPart));

constexpr auto kRunEnd = fields<RunEnd>(
    time("ended_us", &RunEnd::ended),
    boolean("is_clean", &RunEnd::is_clean),
    nested("profile", &RunEnd::profile, kModel),
    id("stored_profile", &RunEnd::stored_profile),
    nested("results", &RunEnd::results, kResults),
    parts("fetched", &RunEnd::fetched),
    boolean("is_older", &RunEnd::is_older));

constexpr auto kPlanned = fields<phase::Planned>(
    nested("swap", &phase::Planned::swap, fields<Swap>(
        nested("place", &Swap::place, kApplicationStatus))),
    boolean("by_cycle", &phase::Planned::by_cycle),
    parts("refused", &phase::Planned::refused));

using Call = phase::LaunchingParts::Call;
using Option = std::pair<std::string, std::string>;
constexpr auto kOption = fields<Option>(
    text("name", &Option::first, 64),
    text("value", &Option::second, limits::kMaxOptionBytes));

constexpr auto kRunPhase = one_of_these<Phase>("phase",
    alternative<phase::Waiting>("waiting",
        boolean("may_overtake", &phase::Waiting::may_overtake)),
    alternative<phase::Planning>("planning",
        count("plan", &phase::Planning::plan),
        boolean("may_overtake", &phase::Planning::may_overtake)),
    Alternative{"planned", kPlanned},
    alternative<phase::Holding>("holding",
        nested("plan", &phase::Holding::plan, kPlanned),
        nested("answers", &phase::Holding::answers, kAnswers)),
    alternative<phase::Held>("held"),
    alternative<phase::Committing>("committing",
        nested("answers", &phase::Committing::answers, kAnswers)),
    alternative<phase::Committed>("committed",
        Inlined{&phase::Committed::turn, kTurn}),
    alternative<phase::AwaitingTurn>("awaiting_turn",
        Inlined{&phase::AwaitingTurn::turn, kTurn},
        count("timer", &phase::AwaitingTurn::timer)),
    alternative<phase::AskingTurn>("asking_turn",
        Inlined{&phase::AskingTurn::turn, kTurn}),
    alternative<phase::AskingElsewhere>("asking_elsewhere",
        Inlined{&phase::AskingElsewhere::turn, kTurn}),
    alternative<phase::SendingFiles>("sending_files"),
    alternative<phase::AwaitingStart>("awaiting_start",
        count("timer", &phase::AwaitingStart::timer),
        boolean("may_overtake", &phase::AwaitingStart::may_overtake)),
    alternative<phase::CheckingReady>("checking_ready",
        nested("answers", &phase::CheckingReady::answers, kAnswers)),
    alternative<phase::Launching>("launching"),
    alternative<phase::AwaitingLauncher>("awaiting_launcher",
        steady("until_us", &phase::AwaitingLauncher::until)),
    alternative<phase::LaunchingParts>("launching_parts",
        list("options", &phase::LaunchingParts::options, 64, kOption),
        list("missing", &phase::LaunchingParts::missing, kMaxZones, by_part<Call>(fields<Call>(
            microseconds("until_us", &Call::until, -kFarUs),
            length("rest_us", &Call::rest))))),
    alternative<phase::AwaitingProxies>("awaiting_proxies",
        steady("until_us", &phase::AwaitingProxies::until),
        steady("polled_us", &phase::AwaitingProxies::polled),
        nested("early_end", &phase::AwaitingProxies::early_end, kFailure),
        steady("early_end_at_us", &phase::AwaitingProxies::early_end_at)),
    alternative<phase::GivingUpLaunch>("giving_up_launch",
        nested("failure", &phase::GivingUpLaunch::failure, kFailure)),
    alternative<phase::Started>("started"),
    alternative<phase::Watching>("watching",
        steady("deserted_since_us", &phase::Watching::deserted_since),
        steady("weigh_at_us", &phase::Watching::weigh_at)),
    alternative<phase::CollectingEnd>("collecting_end",
        nested("end", &phase::CollectingEnd::end, kRunEnd),
        steady("until_us", &phase::CollectingEnd::until),
        id("asked", &phase::CollectingEnd::asked),
        parts("settled", &phase::CollectingEnd::settled)),
    alternative<phase::FetchingResults>("fetching_results",
        nested("end", &phase::FetchingResults::end, kRunEnd)),
    alternative<phase::Concluding>("concluding",
        nested("end", &phase::Concluding::end, kRunEnd),
        nested("found", &phase::Concluding::found, kEnd)),
    alternative<phase::Over>("over"));

constexpr auto kRequest = fields<ApplicationRequest>(
    id("id", &ApplicationRequest::id),
    integer("ranks", &ApplicationRequest::ranks, 1, limits::kMaxRanks),
    length("walltime_us", &ApplicationRequest::walltime),
    length("grace_us", &ApplicationRequest::grace),
    boolean("profile", &ApplicationRequest::profile),
    word("launcher", &ApplicationRequest::launcher),
    nested("staging", &ApplicationRequest::staging, Functions{encode, decode_staging}));

using Backoff = ApplicationRun::Backoff;
using Promise = ApplicationRun::Promise;
using Releases = ApplicationRun::Releases;
using Window = std::pair<PartId, Duration>;
using LaunchBackoff = ZoneBackoff::Entry;
constexpr auto kLaunchBackoff = by_zone<LaunchBackoff>(fields<LaunchBackoff>(
    count("failures", &LaunchBackoff::failures, kMaxCount),
    count("suspicions", &LaunchBackoff::suspicions, kMaxCount),
    steady("until_us", &LaunchBackoff::until)));

constexpr auto kRun = fields<ApplicationRun>(
    Inlined{&ApplicationRun::app, fields<Application>(
        identity("owner", &Application::owner),
        nested("request", &Application::request, kRequest),
        nested("status", &Application::status, kApplicationStatus))},
    Inlined{&ApplicationRun::phase, kRunPhase},
    nested("series", &ApplicationRun::series, fields<ApplicationRun::Series>(
        integer("round", &ApplicationRun::Series::round, 1, kMaxCount),
        texts("excluded", &ApplicationRun::Series::excluded, kMaxZones, 1 << 20))),
    boolean("was_denied", &ApplicationRun::was_denied),
    count("denials", &ApplicationRun::denials, kMaxCount),
    list("backoffs", &ApplicationRun::backoffs, kMaxZones, by_zone<Backoff>(fields<Backoff>(
        steady("until_us", &Backoff::until),
        count("times", &Backoff::times, 8)))),
    boolean("needs_all", &ApplicationRun::needs_all),
    Field{"launch_backoff", &ApplicationRun::launch_backoff, write_backoff, read_backoff},
    list("obligations", &ApplicationRun::obligations, kMaxZones, by_part<Promise>(fields<Promise>(
        microseconds("until_us", &Promise::until, -kFarUs),
        steady("asked_us", &Promise::asked),
        Field{"asked_wall_us", &Promise::asked_by_wall, to_microseconds, read_asked}))),
    list("windows", &ApplicationRun::windows, kMaxZones, fields<Window>(
        id("part", &Window::first),
        length("window_us", &Window::second))),
    steady("start_us", &ApplicationRun::start),
    parts("staged", &ApplicationRun::staged),
    count("timers", &ApplicationRun::timers),
    cut_text("must_stop", &ApplicationRun::must_stop),
    steady("launcher_until_us", &ApplicationRun::launcher_until),
    parts("polled", &ApplicationRun::polled),
    parts("silent", &ApplicationRun::silent),
    nested("releases", &ApplicationRun::releases, fields<Releases>(
        parts("missing", &Releases::missing),
        parts("gone", &Releases::gone),
        length("rest_us", &Releases::rest),
        steady("until_us", &Releases::until))));

using event::LauncherSeen;
using Answered = event::ZonesAnswered;
constexpr auto kInput = one_of_these<ApplicationInput>(kStepKind,
    alternative<event::Advance>("advance"),
    alternative<event::Cancelled>("cancelled",
        text("by", &event::Cancelled::by, 256)),
    alternative<Answered>("zones_answered",
        text("what", &Answered::what, 32),
        list("answers", &Answered::answers, kMaxZones, fields<Answered::Answer>(
            text("zone", &Answered::Answer::zone, 64),
            boolean("ok", &Answered::Answer::ok),
            cut_text("words", &Answered::Answer::words)))),
    alternative<event::OffersWeighed>("offers_weighed",
        boolean("needs_all", &event::OffersWeighed::needs_all)),
    alternative<event::MayOvertake>("may_overtake",
        boolean("may", &event::MayOvertake::may)),
    alternative<event::NoPlan>("no_plan",
        text("reason", &event::NoPlan::reason, 1 << 20),
        boolean("is_final", &event::NoPlan::is_final)),
    alternative<event::PlanBegun>("plan_begun",
        count("plan", &event::PlanBegun::plan)),
    alternative<event::PlanMade>("plan_made",
        Inlined{&event::PlanMade::choice, fields<StartChoice>(
            nested("choice", &StartChoice::plan, Functions{encode, decode_application_plan}),
            length("start_in_us", &StartChoice::start_in))},
        parts("ids", &event::PlanMade::ids),
        count("plan", &event::PlanMade::plan)),
    alternative<event::NoneElsewhere>("none_elsewhere",
        length("rest_us", &event::NoneElsewhere::rest)),
    alternative<event::PartAnswered>("part_answered",
        word("question", &event::PartAnswered::question),
        id("part", &event::PartAnswered::part),
        steady("asked_us", &event::PartAnswered::asked),
        AnswerRow<event::PartAnswered, PartStatus>{{encode, decode_part_status}}),
    alternative<event::TimerFired>("timer_fired",
        count("timer", &event::TimerFired::timer)),
    alternative<event::FilesSent>("files_sent",
        nested("failure", &event::FilesSent::failure, kFailure),
        boolean("is_denial", &event::FilesSent::is_denial)),
    alternative<event::LauncherFailed>("launcher_failed",
        cut_text("reason", &event::LauncherFailed::reason)),
    alternative<LauncherSeen>("launcher_seen",
        boolean("runs", &LauncherSeen::runs),
        word("proxies", &LauncherSeen::proxies),
        list("asked", &LauncherSeen::asked, 64, kOption),
        cut_text("end", &LauncherSeen::end),
        boolean("was_stopped", &LauncherSeen::was_stopped)),
    alternative<event::LauncherRemoved>("launcher_removed"),
    alternative<event::LaunchFailed>("launch_failed",
        nested("failure", &event::LaunchFailed::failure, kFailure),
        boolean("is_suspicion", &event::LaunchFailed::is_suspicion)),
    alternative<event::StopAsked>("stop_asked",
        cut_text("reason", &event::StopAsked::reason)),
    alternative<event::Watched>("watched",
        boolean("runs", &event::Watched::runs),
        boolean("is_clean", &event::Watched::is_clean)),
    alternative<event::OutputMeasured>("output_measured",
        count("bytes", &event::OutputMeasured::bytes),
        length("took_us", &event::OutputMeasured::took)),
    alternative<event::LauncherOutlives>("launcher_outlives",
        text("zone", &event::LauncherOutlives::zone, 64),
        cut_text("reason", &event::LauncherOutlives::reason)),
    alternative<event::Restarted>("restarted"),
    alternative<event::OwnerChecked>("owner_checked"),
    alternative<event::ReleaseDue>("release_due",
        boolean("is_new", &event::ReleaseDue::is_new)),
    alternative<event::ReleaseAnswered>("release_answered",
        id("part", &event::ReleaseAnswered::part),
        AnswerRow<event::ReleaseAnswered, PartStatus>{{encode, decode_part_status}}),
    alternative<event::ProfileAnswered>("profile_answered",
        id("part", &event::ProfileAnswered::part),
        AnswerRow<event::ProfileAnswered, ApplicationModel>{kModel}),
    alternative<event::ResultsFetched>("results_fetched",
        nested("results", &event::ResultsFetched::results, kResults),
        parts("complete", &event::ResultsFetched::complete),
        boolean("is_older", &event::ResultsFetched::is_older)),
    alternative<event::EndFound>("end_found",
        Inlined{&event::EndFound::end, kEnd}),
    alternative<event::ProfileStored>("profile_stored",
        id("id", &event::ProfileStored::id)));

constexpr auto kApplicationStep = fields<LoggedApplicationStep>(
    id(kApplication, &LoggedApplicationStep::application),
    Inlined{&LoggedApplicationStep::event, kInput},
    nested("now", &LoggedApplicationStep::now, fields<Moment>(
        time("wall_us", &Moment::wall),
        steady("steady_us", &Moment::steady),
        boolean("is_blocked", &Moment::is_blocked),
        optional(text("resting", &Moment::resting, 1 << 20)))),
    boolean("is_stored", &LoggedApplicationStep::is_stored),
    Inlined{&LoggedApplicationStep::outcome, kOutcome});
// clang-format on

Json write_backoff(const ZoneBackoff& backoff) {
    Json json = Json::array();
    for (const auto& entry : backoff.entries()) json.push_back(kLaunchBackoff.encode(entry));
    return json;
}

ZoneBackoff read_backoff(JsonReader& in, const char* key) {
    const Json& json = in.array(key, kMaxZones);
    ZoneBackoff::Entries entries;
    for (std::size_t i = 0; i < json.size() && in.ok(); ++i) {
        auto entry = kLaunchBackoff.decode(json[i], in.pointer_of(std::string(key) + "/" + std::to_string(i)));
        if (!entry) return in.fail(entry.error()), ZoneBackoff{};
        entries.insert(*std::move(entry));
    }
    return ZoneBackoff(std::move(entries));
}

bool fits(ApplicationState state, const Phase& phase) {
    const bool runs = is_one_of<phase::Started, phase::Watching>(phase) || has_launcher_ended(phase);
    switch (state) {
        case ApplicationState::kAccepted:
            return is_one_of<phase::Waiting, phase::Planning>(phase);
        case ApplicationState::kPlanned:
            return is_one_of<phase::Planned, phase::Holding>(phase);
        case ApplicationState::kHeld:
            return is_one_of<phase::Held, phase::Committing>(phase);
        case ApplicationState::kCommitted:
            return is_one_of<phase::Committed, phase::AwaitingTurn, phase::AskingTurn, phase::AskingElsewhere,
                             phase::SendingFiles, phase::AwaitingStart, phase::CheckingReady>(phase);
        case ApplicationState::kLaunching:
            return runs || is_one_of<phase::Launching, phase::AwaitingLauncher, phase::LaunchingParts,
                                     phase::AwaitingProxies, phase::GivingUpLaunch>(phase);
        case ApplicationState::kRunning:
            return runs;
        default:
            return is_one_of<phase::Over>(phase);
    }
}

/// `step` relies on it.
void check_run(JsonReader& in, const ApplicationRun& run) {
    const ApplicationStatus& status = run.app.status;
    const bool has_parts = ApplicationState::kAccepted < status.state && !is_final(status.state);
    const auto* holding = std::get_if<phase::Holding>(&run.phase);
    const auto* planned = holding != nullptr ? &holding->plan : std::get_if<phase::Planned>(&run.phase);
    if (auto good = check_history(status); !good)
        in.fail("status/history", good.error().message);
    else if (!fits(status.state, run.phase))
        in.fail("phase", "is none of an application that is " + std::string(to_string(status.state)));
    else if (has_parts && status.parts.empty())
        in.fail("status/parts", "must not be empty");
    else if (planned != nullptr && planned->swap && planned->swap->place && planned->swap->place->parts.empty())
        in.fail("plan/swap/place/parts", "must not be empty");
}

/// Whether the machine may be in this state when the event comes.
Result<void> check_event(const ApplicationRun& run, const ApplicationInput& event) {
    if (const auto* made = std::get_if<event::PlanMade>(&event)) {
        const std::vector<ZoneName>& zones = made->choice.plan.zone_of_rank;
        if (zones.empty() || std::set<ZoneName>(zones.begin(), zones.end()).size() != made->ids.size())
            return invalid("a plan needs an id for each zone", "/ids");
    }
    const auto* concluding = std::get_if<phase::Concluding>(&run.phase);
    if (concluding == nullptr) return {};
    const auto* found = std::get_if<event::EndFound>(&event);
    const std::optional<ApplicationEnd> end = found != nullptr ? std::optional(found->end) : concluding->found;
    if (end && !allowed(run.app.status.state, end->state)) return invalid("is no end of this one", "/end_state");
    return {};
}

}  // namespace

Json encode_application(const ApplicationRun& run) {
    Json json = kRun.encode(run);
    json[kStepKind] = kApplication;
    return json;
}

Json encode(const LoggedApplicationStep& step) { return kApplicationStep.encode(step); }

Result<ApplicationRun> decode_application_run(JsonReader& in) {
    ApplicationRun run;
    kRun.read(in, run);
    if (in.ok()) check_run(in, run);
    return in.finish(std::move(run));
}

Result<LoggedApplicationStep> decode_application_step(JsonReader& in) {
    LoggedApplicationStep step;
    kApplicationStep.read(in, step);
    return in.finish(std::move(step));
}

std::string word_of(const LoggedApplicationStep& step) {
    return kApplicationStep.encode(step).at(kStepKind).get<std::string>();
}

StepOutcome outcome_of(const ApplicationRun& run) {
    return {to_string(run.app.status.state), zbs::sha256(dump(kRun.encode(run))), {}};
}

Result<StepOutcome> take_again(ApplicationRun& run, const LoggedApplicationStep& logged, const ZoneConfig& config) {
    if (auto good = check_event(run, logged.event); !good) return good.error();
    ApplicationStep next = step(std::move(run), logged.event, logged.now, config);
    run = std::move(next.run);
    if (next.save && logged.is_stored) keep(run, *std::move(next.save));
    return outcome_of(run);
}

}  // namespace zbs::codec
