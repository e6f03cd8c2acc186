#include <algorithm>

#include "algorithms/base/text.hpp"
#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::codec {
namespace {

constexpr std::size_t kMaxLongReason = 1 << 20;

/// For people, on one line.
std::string read_job_name(JsonReader& in, const char* key) {
    std::string name = in.text(key, limits::kMaxJobNameBytes);
    if (in.ok() && (name.empty() || !is_one_line(name)))
        in.fail(key, "must be one line of text, without control characters and marks of direction");
    return name;
}

std::string read_comment(JsonReader& in, const char* key) {
    std::string comment = in.text(key);
    if (in.ok() && !is_comment(comment))
        in.fail(key, "must be one line of 1 to 200 characters, without control characters");
    return comment;
}

std::vector<std::vector<TaskIndex>> read_clusters(JsonReader& in, const char* key) {
    std::vector<std::vector<TaskIndex>> clusters;
    const Json& items = in.array(key, limits::kMaxRanks);
    for (std::size_t i = 0; i < items.size() && in.ok(); ++i) {
        const std::string place = std::string(key) + "/" + std::to_string(i);
        std::vector<TaskIndex>& cluster = clusters.emplace_back();
        if (!items[i].is_array()) in.fail(place, "must be an array of ranks");
        for (std::size_t k = 0; k < items[i].size() && in.ok(); ++k) {
            const Json& rank = items[i][k];
            if (rank.is_number_unsigned() && rank.get<std::uint64_t>() < limits::kMaxRanks)
                cluster.push_back(rank.get<TaskIndex>());
            else
                in.fail(place + "/" + std::to_string(k), "must be a rank");
        }
    }
    return clusters;
}

std::string write_answer(const std::string& answer) { return bounded(answer, kMaxEventText); }
std::string read_answer(JsonReader& in, const char* key) { return in.text(key, kMaxEventText + 8); }

/// Both ends of the range, or none.
struct StartRow {
    void write(Json& json, const ZoneVerdict& verdict) const {
        if (!verdict.start) return;
        json["start_from_s"] = to_seconds(verdict.start->from);
        json["start_to_s"] = to_seconds(verdict.start->to);
    }
    void read(JsonReader& in, ZoneVerdict& verdict) const {
        if (in.has("start_from_s") || in.has("start_to_s"))
            verdict.start = {in.seconds("start_from_s", limits::kMaxWalltimeSeconds),
                             in.seconds("start_to_s", limits::kMaxWalltimeSeconds)};
    }
};

/// Left out without files, also where a member beside them is set.
struct StagingRow {
    static constexpr auto kField =
        optional(nested("staging", &ApplicationRequest::staging, Functions{encode, decode_staging}));
    void write(Json& json, const ApplicationRequest& request) const {
        if (!request.staging.empty()) kField.write(json, request);
    }
    void read(JsonReader& in, ApplicationRequest& request) const { kField.read(in, request); }
};

void check_request(JsonReader& in, const ApplicationRequest& request) {
    if (request.argv.empty() || request.argv[0].empty())
        in.fail("argv", "must name a program");
    else if (request.argv[0].starts_with('-') || request.argv[0] == ":")
        in.fail("argv/0", "must be a program; launchers take this word for one of their own");
    if (!request.directory.starts_with('/')) in.fail("directory", "must be an absolute path");
    if (request.walltime < std::chrono::seconds{1}) in.fail("walltime_s", "must be at least 1 second");
    if (request.model && request.model->graph.task_count() != request.ranks)
        in.fail("model/ranks", "is " + std::to_string(request.model->graph.task_count()) +
                                   ", but the application has " + std::to_string(request.ranks) + " ranks");
}

// One field a line.
// clang-format off
constexpr auto kApplicationRequest = fields<ApplicationRequest>(
    defaulted(id("id", &ApplicationRequest::id)),
    optional(Field{"name", &ApplicationRequest::name, kAsIs, read_job_name}),
    optional(Field{"comment", &ApplicationRequest::comment, kAsIs, read_comment}),
    integer("ranks", &ApplicationRequest::ranks, 1, limits::kMaxRanks),
    texts("argv", &ApplicationRequest::argv, limits::kMaxArguments, limits::kMaxArgumentBytes),
    text("directory", &ApplicationRequest::directory, limits::kMaxPathBytes),
    defaulted(environment("environment", &ApplicationRequest::environment)),
    defaulted(seconds("walltime_s", &ApplicationRequest::walltime, limits::kMaxWalltimeSeconds)),
    defaulted(seconds("grace_s", &ApplicationRequest::grace, limits::kMaxGraceSeconds)),
    nested("model", &ApplicationRequest::model, Functions{encode, decode_model}),
    defaulted(text("mapper", &ApplicationRequest::mapper, 64)),
    defaulted(count("seed", &ApplicationRequest::seed)),
    defaulted(texts("zones", &ApplicationRequest::zones, limits::kMaxZonesInRegistry, 1 << 20)),
    optional(name("partition", &ApplicationRequest::partition)),
    defaulted(boolean("profile", &ApplicationRequest::profile)),
    defaulted(boolean("use_profile", &ApplicationRequest::use_profile)),
    optional(word("launcher", &ApplicationRequest::launcher)),
    StagingRow{},
    optional(count("priority", &ApplicationRequest::priority, kMaxPriority)),
    integer("share", &ApplicationRequest::share, kMinShare, kMaxShare),
    optional(integer("overcommit", &ApplicationRequest::overcommit, 1, limits::kMaxOvercommit))).checked(check_request);

constexpr auto kZoneVerdict = fields<ZoneVerdict>(
    text("zone", &ZoneVerdict::zone, 64),
    count("processors", &ZoneVerdict::processors, ResourceGraph::kMaxProcessors),
    count("ranks", &ZoneVerdict::ranks, limits::kMaxRanks),
    cut_text("reason", &ZoneVerdict::reason),
    StartRow{},
    optional(integer("overcommit", &ZoneVerdict::overcommit, 1, limits::kMaxOvercommit)));

constexpr auto kApplicationPlan = fields<ApplicationPlan>(
    text("profile", &ApplicationPlan::profile, 64),
    Field{"clusters", &ApplicationPlan::clusters, kAsIs, read_clusters},
    texts("zone_of_cluster", &ApplicationPlan::zone_of_cluster, limits::kMaxRanks, 1 << 27),
    texts("zone_of_rank", &ApplicationPlan::zone_of_rank, limits::kMaxRanks, 1 << 27),
    list("zones", &ApplicationPlan::zones, limits::kMaxZonesInRegistry, kZoneVerdict),
    integer("round", &ApplicationPlan::round, 1, 1'000),
    defaulted(seconds("start_in_s", &ApplicationPlan::start_in, limits::kMaxWalltimeSeconds)),
    optional(boolean("queued", &ApplicationPlan::queued)),
    number("crossing_bytes", &ApplicationPlan::crossing_bytes, 0, 1e30),
    number("crossing_bytes_block", &ApplicationPlan::crossing_bytes_block, 0, 1e30),
    number("crossing_bytes_round_robin", &ApplicationPlan::crossing_bytes_round_robin, 0, 1e30),
    optional(cut_text("learned", &ApplicationPlan::learned)),
    optional(digest("digest", &ApplicationPlan::digest)),
    seconds("predicted_s", &ApplicationPlan::predicted, limits::kMaxRunSeconds));

constexpr auto kApplicationPart = fields<ApplicationPart>(
    id("id", &ApplicationPart::id),
    name("zone", &ApplicationPart::zone),
    ranks("ranks", &ApplicationPart::ranks),
    id("replaces", &ApplicationPart::replaces),
    optional(boolean("queued", &ApplicationPart::queued)),
    optional(integer("overcommit", &ApplicationPart::overcommit, 1, limits::kMaxOvercommit)),
    nested("status", &ApplicationPart::status, Functions{encode, decode_part_status}));

constexpr auto kStateChange = fields<StateChange>(
    word("state", &StateChange::state),
    time("at_us", &StateChange::at));

constexpr auto kApplicationEvent = fields<ApplicationEvent>(
    time("at_us", &ApplicationEvent::at),
    time("last_us", &ApplicationEvent::last),
    integer("times", &ApplicationEvent::times, 1, INT32_MAX),
    integer("round", &ApplicationEvent::round, 1, INT32_MAX),
    text("zone", &ApplicationEvent::zone, 64),
    text("what", &ApplicationEvent::what, 32),
    Field{"answer", &ApplicationEvent::answer, write_answer, read_answer},
    boolean("ok", &ApplicationEvent::ok));

constexpr auto kHistory = list("history", &ApplicationStatus::history, 1'000, kStateChange);
constexpr auto kEvents = optional(list("events", &ApplicationStatus::events, kMaxEvents, kApplicationEvent));
constexpr auto kApplicationStatus = fields<ApplicationStatus>(
    word("state", &ApplicationStatus::state),
    text("reason", &ApplicationStatus::reason, kMaxLongReason),
    kHistory,
    list("parts", &ApplicationStatus::parts, limits::kMaxZonesInRegistry, kApplicationPart),
    list("releasing", &ApplicationStatus::releasing, limits::kMaxZonesInRegistry, kApplicationPart),
    text("operation", &ApplicationStatus::launcher_step, 64),
    boolean("cancel_requested", &ApplicationStatus::cancel_requested),
    optional(text("cancelled_by", &ApplicationStatus::cancelled_by, 256)),
    text("stop_reason", &ApplicationStatus::stop_reason, kMaxLongReason),
    count("exit_code", &ApplicationStatus::exit_code, 255),
    nested("plan", &ApplicationStatus::plan, kApplicationPlan),
    id("profile", &ApplicationStatus::profile),
    time("start_us", &ApplicationStatus::start),
    time("queue_start_us", &ApplicationStatus::queue_start),
    kEvents,
    nested("results", &ApplicationStatus::results, Functions{encode, decode_staged_results}));

constexpr auto kApplicationSummary = fields<ApplicationSummary>(
    id("id", &ApplicationSummary::id),
    identity("owner", &ApplicationSummary::owner),
    optional(Field{"name", &ApplicationSummary::name, kAsIs, read_job_name}),
    word("state", &ApplicationSummary::state),
    integer("ranks", &ApplicationSummary::ranks, 1, limits::kMaxRanks),
    text("program", &ApplicationSummary::program, limits::kMaxArgumentBytes),
    texts("zones", &ApplicationSummary::zones, limits::kMaxZonesInRegistry, 1 << 20),
    text("reason", &ApplicationSummary::reason, kMaxLongReason),
    time("submitted_us", &ApplicationSummary::submitted),
    count("exit_code", &ApplicationSummary::exit_code, 255),
    time("started_us", &ApplicationSummary::started),
    time("ended_us", &ApplicationSummary::ended),
    time("expected_start_us", &ApplicationSummary::expected_start),
    optional(text("waits_for", &ApplicationSummary::waits_for, 32)),
    optional(count("results_left_out", &ApplicationSummary::results_left_out)));

constexpr auto kApplicationPage = fields<ApplicationPage>(
    list("applications", &ApplicationPage::rows, limits::kMaxApplicationRows, kApplicationSummary),
    optional(text("next", &ApplicationPage::next, 46)));
// clang-format on

}  // namespace

Json encode(const ApplicationRequest& request) { return kApplicationRequest.encode(request); }
Result<ApplicationRequest> decode_application_request(const Json& json) {
    JsonReader in(json);
    const auto id = read_id<ApplicationId>(in, "id");
    if (!in.ok()) return in.error();
    return decode_new_application(json, id);
}
Result<ApplicationRequest> decode_new_application(const Json& json, const ApplicationId& otherwise) {
    JsonReader in(json);
    ApplicationRequest request{.id = otherwise, .walltime = std::chrono::hours{1}, .grace = kUsualGrace};
    kApplicationRequest.read(in, request);
    return in.finish(std::move(request));
}

Json encode(const ApplicationPlan& plan) { return kApplicationPlan.encode(plan); }
Result<ApplicationPlan> decode_application_plan(const Json& json, const std::string& pointer) {
    return kApplicationPlan.decode(json, pointer);
}
Json encode(const ApplicationPart& part) { return kApplicationPart.encode(part); }
Result<ApplicationPart> decode_application_part(const Json& json, const std::string& pointer) {
    return kApplicationPart.decode(json, pointer);
}
Json encode(const ApplicationStatus& status) { return kApplicationStatus.encode(status); }
Result<ApplicationStatus> decode_application_status(const Json& json, const std::string& pointer) {
    return kApplicationStatus.decode(json, pointer);
}
Json encode(const ApplicationSummary& row) { return kApplicationSummary.encode(row); }
Result<ApplicationSummary> decode_application_summary(const Json& json) { return kApplicationSummary.decode(json); }
Json encode(const ApplicationPage& page) { return kApplicationPage.encode(page); }
Result<ApplicationPage> decode_application_page(const Json& json) { return kApplicationPage.decode(json); }

Result<std::vector<ApplicationEvent>> decode_events(const Json& json) {
    if (!json.is_object() || !json.contains("events")) return std::vector<ApplicationEvent>{};
    JsonReader in(json);
    ApplicationStatus status;
    kEvents.read(in, status);
    if (!in.ok()) return in.error();
    return std::move(status.events);
}

Result<std::vector<ApplicationState>> decode_states(std::string_view words, const std::string& pointer) {
    std::vector<ApplicationState> states;
    for (const std::string_view word : split(words, ',')) {
        const std::optional<ApplicationState> state = find_word<ApplicationState>(word);
        if (!state) {
            std::string all;
            for (const ApplicationState one : kAll<ApplicationState>) all += std::string(" ") + to_string(one);
            return invalid("must be states with commas between them, of" + all, pointer);
        }
        if (!std::ranges::count(states, *state)) states.push_back(*state);
    }
    return states;
}

std::string encode_place(const ApplicationPlace& place) {
    return std::to_string(to_microseconds(place.submitted)) + "-" + to_string(place.id);
}

Result<ApplicationPlace> decode_place(std::string_view text, const std::string& pointer) {
    if (const std::size_t at = text.find('-'); at != std::string_view::npos) {
        const auto us = parse_number<std::int64_t>(text.substr(0, at));
        const std::optional<Id128> id = parse_id128(text.substr(at + 1));
        if (us && id) return ApplicationPlace{time_from_microseconds(*us), {*id}};
    }
    return invalid("must be what a page of this list gave as 'next'", pointer);
}

Json encode_counts(const std::map<ApplicationState, std::size_t>& by_state, Time since) {
    Json counts = Json::object();
    for (const auto& [state, count] : by_state) counts[to_string(state)] = count;
    return {{"counts", std::move(counts)}, {"ended_since_us", to_microseconds(since)}};
}

Json encode_view(const Application& application) {
    Json json = encode(summary_of(application));
    if (!application.request.comment.empty()) json["comment"] = application.request.comment;
    if (!application.request.partition.empty()) json["partition"] = application.request.partition;
    json["argv"] = application.request.argv;
    json["directory"] = application.request.directory;
    json["walltime_s"] = to_seconds(application.request.walltime);
    json["grace_s"] = to_seconds(application.request.grace);
    json["mapper"] = application.request.mapper;
    if (application.request.launcher != Launcher::kMpich) json["launcher"] = to_string(application.request.launcher);
    json["history"] = kHistory.to_json(application.status.history);
    json["cancel_requested"] = application.status.cancel_requested;
    Json parts = Json::array();
    for (const ApplicationPart& part : application.status.parts) {
        Json assignment = Json::array();
        for (const RankPlace& place : part.status.assignment) {
            assignment.push_back({{"rank", place.rank}, {"machine", place.machine}, {"processor", place.processor}});
        }
        Json row = {{"id", to_string(part.id)},     {"zone", part.zone},
                    {"ranks", part.ranks},          {"state", to_string(part.status.state)},
                    {"reason", part.status.reason}, {"assignment", std::move(assignment)}};
        if (part.status.queue) row["queue"] = encode(*part.status.queue);
        if (part.status.work) row["work"] = to_string(*part.status.work);
        if (part.status.grace) row["grace_s"] = to_seconds(*part.status.grace);
        parts.push_back(std::move(row));
    }
    json["parts"] = std::move(parts);
    if (application.status.plan) json["plan"] = encode(*application.status.plan);
    if (application.status.profile) json["profile"] = to_string(*application.status.profile);
    if (application.status.start) json["start_us"] = to_microseconds(*application.status.start);
    if (application.status.results && !application.status.results->notes.empty())
        json["result_notes"] = application.status.results->notes;
    return json;
}

Json encode_explanation(const Application& application) {
    Json json = {{"id", to_string(application.request.id)},
                 {"state", to_string(application.status.state)},
                 {"reason", application.status.reason},
                 {"events", kEvents.to_json(application.status.events)}};
    if (application.status.plan) json["plan"] = encode(*application.status.plan);
    if (application.status.start) json["start_us"] = to_microseconds(*application.status.start);
    return json;
}

}  // namespace zbs::codec
